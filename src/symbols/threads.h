// One-time setup of third-party libraries for all threads.
#pragma once

namespace skid::symbols {

/// libelf notes its version, and Capstone makes tables when it first decodes, without a lock: to be
/// called before several threads open files and decode. Each Module and Disassembler is still for
/// one thread at a time.
void prepare_for_threads();

}  // namespace skid::symbols
