// `skidscan samples` and `perf script` run on one recording, their rows held side by side.
#pragma once

#include "src/machine/file_tree.h"
#include "src/machine/machine.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/sample_rows.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace skid::test {

class AgreementTest : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT("samples"); }

  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }
  std::string recording() const { return in_directory("perf.data"); }

  struct Both {
    bool perf_reads = false;  ///< perf could read the recording
    SampleRows perf, skidscan;
    std::string perf_says, skidscan_says;  ///< on standard error
  };

  /// Whether the installed perf is of that version of Linux or a later one.
  static bool has_perf(int major, int minor) {
    const auto perf = machine::parse_perf_version(run_program({"perf", "--version"}).out);
    return perf && perf->has({major, minor});
  }

  /// Reads a recording with both, without demangling, which depends on perf's version: names of C++
  /// have parameters since 6.4. `home`: where both look for perf's build-id cache; empty: the
  /// user's home. `filter`: options that both have, in the syntax of the shell.
  Both read_with_both(const std::string& file,
                      const std::string& fields = "time,pid,tid,event,ip,sym,symoff,dso",
                      const std::string& home = {}, const std::string& filter = {}) const {
    const auto run = [&](const std::string& command) {
      return run_program({"sh", "-c", "[ -z \"$3\" ] || export HOME=\"$3\"; " + command, "sh", file,
                          fields, home, skidscan_program(), in_directory("out")},
                         directory_.path());
    };
    Both both;
    std::vector<std::string> strange;
    // Only the samples' own addresses, no synthesized samples.
    // Where perf can read the kernel's memory it takes no names of modules from the recording; a
    // symbol table of its own keeps it from that.
    const auto printed =
        run("kernel=; if [ -r /proc/kcore ]; then cat /proc/kallsyms >kallsyms; "
            "kernel=--kallsyms=kallsyms; fi; "
            "perf script $kernel --no-demangle -G --no-itrace --ns -F \"$2\" -i \"$1\" " +
            filter + " >\"$5\"");
    both.perf_reads = printed.code.success();
    both.perf_says = printed.err;
    both.perf = rows_of_perf(content_of(in_directory("out")), strange);
    const auto sampled =
        run("\"$4\" samples --no-demangle \"$1\" --columns \"$2\" " + filter + " >\"$5\"");
    both.skidscan_says = sampled.err;
    both.skidscan = rows_of_skidscan(content_of(in_directory("out")), strange);
    if (both.perf_reads) {
      EXPECT_THAT(strange, ::testing::IsEmpty());
    }
    return both;
  }

  /// Whether two functions of one sample differ only as docs/agreement.md says of the PLT.
  static bool differ_by_plt(const SampleRow& perf, const SampleRow& skidscan) {
    static const bool names_plt = has_perf(6, 3);
    if (names_plt) return skidscan.sym.empty() && perf.sym == "_init";  // beyond its section
    const bool is_plt = perf.sym == "_init" || perf.sym.empty() || perf.sym.ends_with("@plt");
    return is_plt &&
           (skidscan.sym.empty() || skidscan.sym == ".plt" || skidscan.sym.ends_with("@plt"));
  }

  /// Takes out the samples that differ only so.
  static void forgive_plt_entries(SampleRows& only_perf, SampleRows& only_skidscan) {
    for (auto ours = only_skidscan.begin(); ours != only_skidscan.end();) {
      const auto theirs = std::find_if(only_perf.begin(), only_perf.end(), [&](const auto& entry) {
        SampleRow row = ours->first;
        if (!differ_by_plt(entry.first, row)) return false;
        row.sym = entry.first.sym;
        row.symoff = entry.first.symoff;
        return row == entry.first && entry.second == ours->second;
      });
      if (theirs == only_perf.end()) {
        ++ours;
      } else {
        only_perf.erase(theirs);
        ours = only_skidscan.erase(ours);
      }
    }
  }

  static void expect_equal(const Both& both, const std::string& what) {
    EXPECT_TRUE(both.perf_reads) << what << ": " << both.perf_says;
    auto only_perf = without(both.perf, both.skidscan);
    auto only_skidscan = without(both.skidscan, both.perf);
    forgive_plt_entries(only_perf, only_skidscan);
    EXPECT_TRUE(only_perf.empty()) << what << ": only perf has " << describe(only_perf);
    EXPECT_TRUE(only_skidscan.empty())
        << what << ": only skidscan has " << describe(only_skidscan) << both.skidscan_says;
  }

  /// The rows of the recording, which both tools gave alike.
  SampleRows agreed_rows() const {
    const auto both = read_with_both(recording());
    expect_equal(both, "perf.data");
    EXPECT_FALSE(both.perf.empty());
    return both.perf;
  }

  static int count_if(const SampleRows& rows, const std::function<bool(const SampleRow&)>& wanted) {
    int samples = 0;
    for (const auto& [row, count] : rows) {
      if (wanted(row)) samples += count;
    }
    return samples;
  }
  static int samples_of(const SampleRows& rows, const std::string& symbol) {
    return count_if(rows, [&](const SampleRow& row) { return row.sym == symbol; });
  }
  static int samples_in_file(const SampleRows& rows, const std::string& dso) {
    return count_if(rows, [&](const SampleRow& row) { return row.dso == dso; });
  }
  static int named_kernel_samples(const SampleRows& rows) {
    return count_if(rows, [](const SampleRow& row) {
      return row.dso == "[kernel.kallsyms]" && !row.sym.empty();
    });
  }

  TemporaryDirectory directory_;
};

}  // namespace skid::test
