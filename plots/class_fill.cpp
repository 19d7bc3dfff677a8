#include "plots/class_fill.h"

#include "plots/palette.h"

namespace skid::plots {

using analysis::SampleClass;

Fill fill_of(SampleClass sample_class) {
  // Colours as in histograms. Of those that are alike in grey each has a pattern of its own.
  switch (sample_class) {
    case SampleClass::hit:
      return {kGreen};
    case SampleClass::skid:
      return {kBlue, 4};
    case SampleClass::before:
      return {kOrange};
    case SampleClass::censored:
      return {kVermillion, 2};
    case SampleClass::other_trigger:
      return {kPurple, 1};
    case SampleClass::loop:
      return {kSkyBlue, 7};
    case SampleClass::other_user:
      return {kBlack, 6};
    case SampleClass::kernel:
      return {"#444444"};
    case SampleClass::guest:
      return {kGrey, 5};
    case SampleClass::unmapped:
      return {kYellow};
  }
  return {kGrey};
}

}  // namespace skid::plots
