// The origin of samples, which every output states unless it was a CPU.
#pragma once

#include "src/machine/cpu_identity.h"
#include "src/support/names.h"
#include "src/support/text.h"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

struct Page;

/// What made samples.
enum class SampleOrigin {
  cpu,
  emulator,  ///< QEMU, recognized by the CPU's name
  model,     ///< a model of skidscan synth
};
SKID_WORDS(SampleOrigin, {"", ""},
           {"EMULATED",
            "an emulated CPU (QEMU) took the samples; their skid is that of the emulation"},
           {"SYNTHETIC", "samples made by skidscan synth, not measured"})
inline constexpr std::array kOtherOrigins{SampleOrigin::emulator, SampleOrigin::model};

inline SampleOrigin origin_of(bool synthetic, const machine::CpuIdentity& cpu) {
  if (synthetic) return SampleOrigin::model;
  return cpu.emulated() ? SampleOrigin::emulator : SampleOrigin::cpu;
}

/// Returns the origin of the samples of a measurement, an audit, a correction or a side of a
/// comparison.
SampleOrigin origin_of(const auto& of) {
  return origin_of(of.synthetic, of.cpu);
}

/// Whether any of `things` is from `origin`.
bool any_of_origin(SampleOrigin origin, const auto& things) {
  for (const auto& thing : things) {
    if (origin_of(thing) == origin) return true;
  }
  return false;
}

/// Returns " (SYNTHETIC)" or the like, for a title; empty if a CPU took the samples of all
/// `things`.
std::string title_mark(const auto& things) {
  std::string mark;
  for (const SampleOrigin origin : kOtherOrigins) {
    if (any_of_origin(origin, things)) mark += fmt::format(" ({})", name_of(origin));
  }
  return mark;
}

/// Returns ", synthetic" or the like, for the end of a list; empty for a CPU.
inline std::string origin_word(SampleOrigin origin) {
  return origin == SampleOrigin::cpu ? "" : ", " + lower_case(name_of(origin));
}

/// Returns "SYNTHETIC" and its meaning as a field of a text; empty for a CPU. `of`: which samples;
/// may be empty.
std::string origin_field(const Page& page, SampleOrigin origin, const std::string& of = {});

/// Returns the fields of all origins that `things` have.
std::string origin_fields(const Page& page, const auto& things) {
  std::string text;
  for (const SampleOrigin origin : kOtherOrigins) {
    if (any_of_origin(origin, things)) text += origin_field(page, origin);
  }
  return text;
}

}  // namespace skid::output
