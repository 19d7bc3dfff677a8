// Parses a command line.
#pragma once

#include <string>
#include <vector>

namespace skid::commandline {

struct Command;
struct Program;

/// What a command line requests.
struct Call {
  enum class Request { run, help, version };
  const Command* command;  ///< part of the program that was passed to `parse`
  Request request;
};

/// Parses the arguments after the program's name and stores the values of the chosen command's
/// options. Throws UsageError for a wrong command line:
/// "--format xml: expected text, json, csv; try 'skidscan report --help'".
Call parse(const Program& program, const std::vector<std::string>& arguments);

}  // namespace skid::commandline
