#include "src/kit/slurm.h"

#include <string>

namespace skid::kit {
namespace {

constexpr std::string_view kReadmePart =
    R"(
For Slurm, where this directory is on a file system that the nodes share:

    ./submit.sh --nodes 'node[1-16]'      # a run on each of these nodes
    ./submit.sh --features skylake,genoa  # or on one node of each CPU type

Runs, reports, their comparison and what failed are in results/ then; the same command
again records what is missing. './submit.sh --help' lists the options.
)";

}  // namespace

void add_slurm(std::vector<File>& files) {
  for (File& file : files) {
    if (file.name == kReadmeName) file.content += kReadmePart;
  }
  files.push_back({"submit.sh", std::string(slurm_submit_script()), true});
  files.push_back({"record.sbatch", std::string(slurm_record_script()), true});
  files.push_back({"reduce.sbatch", std::string(slurm_reduce_script()), true});
}

}  // namespace skid::kit
