// What nearly every test uses: GoogleTest and its matchers, the standard library, JSON, errors,
// files, child processes, temporary directories and what the machine has.
#pragma once

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/standard.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

}  // namespace skid
