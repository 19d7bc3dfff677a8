#include "src/support/near_names.h"

#include "tests/support/prelude.h"

#include <cstdint>
#include <map>
#include <string>

namespace skid {
namespace {

TEST(NearNames, AreThoseThatDifferLittleOrArePartOfEachOther) {
  const std::map<std::string, std::uint64_t> known{
      {"work", 5}, {"worker", 9}, {"do_work_now", 1}, {"main", 50}, {"memcpy", 7}};
  EXPECT_THAT(near_names("wrok", known, 5), ElementsAre("work"));
  EXPECT_THAT(near_names("WORK", known, 5), ElementsAre("work", "worker", "do_work_now"));
  EXPECT_THAT(near_names("memcpyy", known, 5), ElementsAre("memcpy"));
  EXPECT_THAT(near_names("zzz", known, 5), IsEmpty());
  EXPECT_THAT(near_names("", known, 5), IsEmpty());
  EXPECT_THAT(near_names("work", known, 1), ElementsAre("work"));
  EXPECT_THAT(near_names(std::string(100'000, 'x') + "work", known, 5), ElementsAre("work"));
  EXPECT_THAT(most_frequent(known, 2), ElementsAre("main", "worker"));
}

}  // namespace
}  // namespace skid
