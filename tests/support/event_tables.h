// Whether libpfm4 supports the CPUs of the tests of events.
#pragma once

#include <gtest/gtest.h>

#if !defined(__x86_64__)
#define SKIP_WITHOUT_X86_TABLES() GTEST_SKIP() << "libpfm4 has the tables of its own architecture"
#else
#define SKIP_WITHOUT_X86_TABLES() static_cast<void>(0)
#endif
