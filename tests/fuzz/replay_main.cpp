// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over its seeds, then over random changes of them; or over given files, which
// is how a finding is looked at; or writes the seeds for another fuzzer.
//   <program> [<inputs> [<seed>]]
//   <program> --files <file>...
//   <program> --write-seeds <folder>
// An input that ends the program is left in the file fuzz-last-input.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz_target.hpp"

namespace {

std::string last_input;

/// fopen() in a signal handler is not safe in general; a program that is about to die may try.
void keep_last_input(int signal) {
  if (std::FILE* const file = std::fopen("fuzz-last-input", "wb")) {
    std::fwrite(last_input.data(), 1, last_input.size(), file);
    std::fclose(file);
    std::fprintf(stderr, "fuzz: the input is in fuzz-last-input\n");
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void try_input(std::string input) {
  last_input = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(last_input.data()),
                         last_input.size());
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) std::fprintf(stderr, "fuzz: can't read %s\n", path.c_str());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_seeds(const std::filesystem::path& folder) {
  const std::vector<std::string> seeds = weftline::fuzz::seeds();
  for (std::size_t index = 0; index < seeds.size(); ++index) {
    std::ofstream(folder / ("seed-" + std::to_string(index)), std::ios::binary) << seeds[index];
  }
  return std::filesystem::exists(folder / "seed-0");
}

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::uint32_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(std::string& text) {
    static const std::vector<std::string> kPieces{"{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  ",",
                                                  ":",
                                                  "null",
                                                  "true",
                                                  "-1",
                                                  "0",
                                                  "1e999",
                                                  "18446744073709551616",
                                                  "-9223372036854775809",
                                                  "\\u0000",
                                                  "\\ud800",
                                                  "\xff",
                                                  "\xf0\x9f",
                                                  "NaN",
                                                  "4294967296",
                                                  "\"\":",
                                                  "[[[[[[[[",
                                                  "/**/",
                                                  "0.1",
                                                  "65536",
                                                  " "};
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(20), text.size() - at);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 3:
        text.replace(at, length, kPieces[below(kPieces.size())]);
        break;
      case 4:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      default: {
        const std::string& other = seeds_[below(seeds_.size())];
        const std::size_t from = below(other.size() + 1);
        text.insert(at, other.substr(from, below(40)));
      }
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--write-seeds") {
    return write_seeds(arguments[1]) ? 0 : 1;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, keep_last_input);
  if (!arguments.empty() && arguments[0] == "--files") {
    for (std::size_t index = 1; index < arguments.size(); ++index) {
      try_input(read_all(arguments[index]));
    }
    return 0;
  }
  const unsigned long inputs =
      arguments.empty() ? 10'000 : std::strtoul(arguments[0].c_str(), nullptr, 10);
  const unsigned long seed =
      arguments.size() < 2 ? 1 : std::strtoul(arguments[1].c_str(), nullptr, 10);
  const std::vector<std::string> seeds = weftline::fuzz::seeds();
  try_input({});
  for (const std::string& each : seeds) try_input(each);
  Mutator mutator(seeds, static_cast<std::uint32_t>(seed));
  for (unsigned long input = 0; input < inputs; ++input) try_input(mutator.next());
  std::printf("%zu seeds and %lu changes of them\n", seeds.size(), inputs);
  return 0;
}
