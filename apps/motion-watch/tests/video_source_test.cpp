// SPDX-License-Identifier: Apache-2.0
#include "video_source.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "test_folder.hpp"
#include "test_video.hpp"

namespace motion_watch {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// One line that starts with the file's name.
void check_is_clear(const std::string& error, const std::filesystem::path& path) {
  INFO(error);
  CHECK(error.starts_with(path.string() + ": "));
  CHECK_FALSE(contains(error, "\n"));
  CHECK(contains(error, ";"));
}

std::string open_error(const std::filesystem::path& path) {
  const tl::expected<VideoSource, std::string> source = VideoSource::open(path);
  REQUIRE_FALSE(source.has_value());
  check_is_clear(source.error(), path);
  return source.error();
}

VideoSource open_good(const std::filesystem::path& path) {
  tl::expected<VideoSource, std::string> source = VideoSource::open(path);
  INFO((source ? std::string() : source.error()));
  REQUIRE(source.has_value());
  return std::move(*source);
}

struct Decoded {
  std::vector<std::vector<std::uint8_t>> frames;
  std::string error;
};

Decoded decode_all(VideoSource& source) {
  Decoded result;
  std::vector<std::uint8_t> rgb(source.geometry().rgb_bytes());
  for (;;) {
    const tl::expected<bool, std::string> more = source.read_into(rgb);
    if (!more) result.error = more.error();
    if (!more || !*more) return result;
    result.frames.push_back(rgb);
  }
}

// A WAV file of one second of silence.
std::string silent_sound() {
  std::string wav(
      "RIFF\x64\x1f\0\0WAVEfmt "
      "\x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\x40\x1f\0\0",
      44);
  return wav + std::string(8000, '\x80');
}

}  // namespace

TEST_CASE("a video tells its geometry and rate, and gives every frame once") {
  const TestFolder folder;
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {96, 64}, 20);
  VideoSource source = open_good(folder / "good.avi");
  CHECK(source.geometry() == FrameGeometry{96, 64});
  CHECK(source.frame_rate() == FrameRate{12, 1});
  const Decoded decoded = decode_all(source);
  CHECK(decoded.error.empty());
  REQUIRE(decoded.frames.size() == 20);
  CHECK(decoded.frames[0] != decoded.frames[1]);
  std::vector<std::uint8_t> rgb(source.geometry().rgb_bytes());
  CHECK(source.read_into(rgb) == false);
  CHECK(source.read_into(rgb) == false);
}

TEST_CASE("two decodes of one file give the same bytes") {
  const TestFolder folder;
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {96, 64}, 12);
  VideoSource first = open_good(folder / "good.avi");
  VideoSource second = open_good(folder / "good.avi");
  CHECK(decode_all(first).frames == decode_all(second).frames);
}

TEST_CASE("a source can be moved in the middle of a file") {
  const TestFolder folder;
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {96, 64}, 5);
  VideoSource source = open_good(folder / "good.avi");
  std::vector<std::uint8_t> rgb(source.geometry().rgb_bytes());
  REQUIRE(source.read_into(rgb) == true);
  VideoSource moved = std::move(source);
  CHECK(decode_all(moved).frames.size() == 4);
}

TEST_CASE("frames of any width are written to their own bytes only") {
  const TestFolder folder;
  for (const FrameGeometry size :
       {FrameGeometry{2, 2}, FrameGeometry{3, 3}, FrameGeometry{17, 5}, FrameGeometry{33, 9},
        FrameGeometry{70, 31}, FrameGeometry{127, 15}, FrameGeometry{130, 66}}) {
    for (const TestCodec codec : {TestCodec::kRaw, TestCodec::kMpeg4}) {
      CAPTURE(size.width, size.height, static_cast<int>(codec));
      const std::filesystem::path path = folder / "odd.nut";
      write_test_video(path, codec, size, 3);
      VideoSource source = open_good(path);
      REQUIRE(source.geometry() == size);
      constexpr std::size_t kGuard = 128;
      std::vector<std::uint8_t> memory(size.rgb_bytes() + 2 * kGuard, 0xa5);
      const std::span<std::uint8_t> rgb(memory.data() + kGuard, size.rgb_bytes());
      for (int frame = 0; frame < 3; ++frame) {
        std::ranges::fill(rgb, std::uint8_t{0xa5});
        REQUIRE(source.read_into(rgb) == true);
        CHECK(std::ranges::count(rgb, 0xa5) < static_cast<std::ptrdiff_t>(rgb.size()));
        CHECK(
            std::all_of(memory.begin(), memory.begin() + kGuard, [](auto b) { return b == 0xa5; }));
        CHECK(std::all_of(memory.end() - kGuard, memory.end(), [](auto b) { return b == 0xa5; }));
      }
    }
  }
}

TEST_CASE("a buffer of the wrong size is refused and no frame is lost") {
  const TestFolder folder;
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {96, 64}, 2);
  VideoSource source = open_good(folder / "good.avi");
  std::vector<std::uint8_t> small(source.geometry().rgb_bytes() - 1);
  const tl::expected<bool, std::string> refused = source.read_into(small);
  REQUIRE_FALSE(refused.has_value());
  check_is_clear(refused.error(), folder / "good.avi");
  CHECK(decode_all(source).frames.size() == 2);
}

TEST_CASE("a path that leads to no video is refused in one clear line") {
  const TestFolder folder;
  CHECK(contains(open_error(folder / "missing.avi"), "no such file"));
  CHECK(contains(open_error(folder.path()), "is a folder"));
  write_file(folder / "empty.avi", "");
  CHECK(contains(open_error(folder / "empty.avi"), "is not a video file"));
  write_file(folder / "notes.txt", "Not a video.\nJust two lines of text.\n");
  CHECK(contains(open_error(folder / "notes.txt"), "is not a video file"));
  write_file(folder / "noise.avi", std::string(5000, 'x'));
  CHECK(contains(open_error(folder / "noise.avi"), "is not a video file"));
  write_file(folder / "sound.wav", silent_sound());
  CHECK(contains(open_error(folder / "sound.wav"), "has no video stream"));
}

TEST_CASE("a pipe without a writer is refused, not waited for") {
  const TestFolder folder;
  REQUIRE(::mkfifo((folder / "pipe.avi").c_str(), 0600) == 0);
  CHECK(contains(open_error(folder / "pipe.avi"), "is a pipe"));
  CHECK(contains(open_error("/dev/null"), "or a device"));
}

TEST_CASE("a playlist can't make the program reach for the network") {
  const TestFolder folder;
  write_file(folder / "list.m3u8",
             "#EXTM3U\n#EXTINF:3,\nhttp://127.0.0.1:9/film.ts\n#EXT-X-ENDLIST\n");
  open_error(folder / "list.m3u8");
  CHECK(contains(open_error("http://127.0.0.1:9/film.avi"), "no such file"));
}

TEST_CASE("a name with a colon is a file, not a protocol") {
  const TestFolder folder;
  const std::filesystem::path path = folder / "pipe:0.avi";
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {32, 32}, 2);
  std::filesystem::rename(folder / "good.avi", path);
  VideoSource source = open_good(path);
  CHECK(decode_all(source).frames.size() == 2);
}

TEST_CASE("a file that was cut off gives its good frames, then an error that names the next") {
  const TestFolder folder;
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {96, 64}, 40);
  const std::string bytes = read_file(folder / "good.avi");
  VideoSource whole = open_good(folder / "good.avi");
  const Decoded intact = decode_all(whole);
  // Cut inside the last packet before the middle, not at its edge.
  const std::size_t packet = bytes.rfind("00dc", bytes.size() / 2);
  REQUIRE(packet != std::string::npos);
  const std::filesystem::path path = folder / "cut.avi";
  write_file(path, std::string_view(bytes).substr(0, packet + 20));

  VideoSource source = open_good(path);
  const Decoded decoded = decode_all(source);
  check_is_clear(decoded.error, path);
  const std::string number = std::to_string(decoded.frames.size());
  CHECK(contains(decoded.error, "frame " + number + " is damaged or cut off"));
  REQUIRE(decoded.frames.size() > 5);
  REQUIRE(decoded.frames.size() < 40);
  CHECK(std::equal(decoded.frames.begin(), decoded.frames.end(), intact.frames.begin()));
  std::vector<std::uint8_t> rgb(source.geometry().rgb_bytes());
  CHECK(source.read_into(rgb) == false);
}

TEST_CASE("overwritten bytes in mid-file are an error, not a made-up picture") {
  const TestFolder folder;
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {96, 64}, 40);
  VideoSource whole = open_good(folder / "good.avi");
  const Decoded intact = decode_all(whole);
  std::string bytes = read_file(folder / "good.avi");
  const std::size_t packet = bytes.find("00dc", bytes.size() / 2);
  REQUIRE(packet != std::string::npos);
  bytes.replace(packet + 24, 60, 60, '\x5a');
  write_file(folder / "bad.avi", bytes);

  VideoSource source = open_good(folder / "bad.avi");
  const Decoded decoded = decode_all(source);
  check_is_clear(decoded.error, folder / "bad.avi");
  REQUIRE(decoded.frames.size() < 40);
  CHECK(std::equal(decoded.frames.begin(), decoded.frames.end(), intact.frames.begin()));
}

TEST_CASE("a file whose first frame is damaged can't be opened") {
  const TestFolder folder;
  write_test_video(folder / "good.avi", TestCodec::kMpeg4, {96, 64}, 4);
  const std::string bytes = read_file(folder / "good.avi");
  write_file(folder / "cut.avi", std::string_view(bytes).substr(0, bytes.find("00dc") + 40));
  CHECK(contains(open_error(folder / "cut.avi"), "damaged"));
}

TEST_CASE("a header without a single frame can't be opened") {
  const TestFolder folder;
  write_test_video(folder / "none.avi", TestCodec::kMpeg4, {96, 64}, 0);
  open_error(folder / "none.avi");
}

TEST_CASE("a picture too small to halve is refused") {
  const TestFolder folder;
  write_test_video(folder / "thin.nut", TestCodec::kRaw, {1, 40}, 1);
  CHECK(contains(open_error(folder / "thin.nut"), "1 x 40 pixels"));
}

TEST_CASE("a pixel format that can't be turned into RGB is refused by name") {
  const TestFolder folder;
  write_test_video(folder / "odd.nut", TestCodec::kRawUnreadable, {64, 48}, 2);
  CHECK(contains(open_error(folder / "odd.nut"), "uyyvyy411"));
}

}  // namespace motion_watch
