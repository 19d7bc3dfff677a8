// Names for events that a recording does not name.
#include "src/perfdata/attribute.h"

#include "src/perfdata/format.h"

#include <gtest/gtest.h>

namespace skid::perfdata {
namespace {

Attribute cycles() {
  Attribute attribute;
  attribute.type = PERF_TYPE_HARDWARE;
  attribute.exclude_guest = true;
  return attribute;
}

TEST(DescribeEvent, OmitsDefaultModifiers) {
  EXPECT_EQ(describe_event(cycles()), "cycles");
}

TEST(DescribeEvent, IncludesTheCountedModes) {
  auto attribute = cycles();
  attribute.exclude_guest = false;
  EXPECT_EQ(describe_event(attribute), "cycles:HG");
  attribute.exclude_kernel = attribute.exclude_hypervisor = true;
  EXPECT_EQ(describe_event(attribute), "cycles:u");
  attribute.exclude_user = true;
  attribute.exclude_kernel = false;
  EXPECT_EQ(describe_event(attribute), "cycles:k");
  attribute.exclude_host = true;
  EXPECT_EQ(describe_event(attribute), "cycles:kG");
}

TEST(DescribeEvent, IncludesThePreciseLevel) {
  auto attribute = cycles();
  attribute.precise_ip = 2;
  EXPECT_EQ(describe_event(attribute), "cycles:ppH");
  attribute.exclude_guest = false;
  EXPECT_EQ(describe_event(attribute), "cycles:pp");
  attribute.exclude_kernel = true;
  EXPECT_EQ(describe_event(attribute), "cycles:uhpp");
}

}  // namespace
}  // namespace skid::perfdata
