// SPDX-License-Identifier: Apache-2.0
#include "video_source.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <cstdarg>
#include <system_error>

namespace motion_watch {
namespace {

// What makes the conversion give the same bytes with every instruction set; together with
// AV_CODEC_FLAG_BITEXACT in the decoder. No pixel is scaled, so the cheapest filter will do.
constexpr int kConversion = SWS_POINT | SWS_ACCURATE_RND | SWS_BITEXACT;

struct CloseFormat {
  void operator()(AVFormatContext* p) const { avformat_close_input(&p); }
};
struct FreeCodec {
  void operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
};
struct FreePacket {
  void operator()(AVPacket* p) const { av_packet_free(&p); }
};
struct FreeFrame {
  void operator()(AVFrame* p) const { av_frame_free(&p); }
};
struct FreeConversion {
  void operator()(SwsContext* p) const { sws_freeContext(p); }
};

// FFmpeg explains most failures only in its log. The decoder runs on the thread that calls it.
thread_local std::string first_complaint;

void keep_first_complaint(void* object, int level, const char* format, std::va_list arguments) {
  if (level > AV_LOG_ERROR || !first_complaint.empty()) return;
  char line[256];
  int print_prefix = 0;
  av_log_format_line2(object, level, format, arguments, line, sizeof line, &print_prefix);
  first_complaint = line;
  while (!first_complaint.empty() && static_cast<unsigned char>(first_complaint.back()) <= ' ') {
    first_complaint.pop_back();
  }
}

std::string reason_for(int error) {
  if (!first_complaint.empty()) return first_complaint;
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

tl::unexpected<std::string> failure(const std::filesystem::path& path, const std::string& what) {
  return tl::unexpected(path.string() + ": " + what);
}

}  // namespace

struct VideoSource::Decoder {
  std::filesystem::path path;
  std::unique_ptr<AVFormatContext, CloseFormat> format;
  std::unique_ptr<AVCodecContext, FreeCodec> codec;
  std::unique_ptr<AVPacket, FreePacket> packet{av_packet_alloc()};
  std::unique_ptr<AVFrame, FreeFrame> frame{av_frame_alloc()};
  std::unique_ptr<SwsContext, FreeConversion> conversion;
  AVStream* stream = nullptr;
  FrameGeometry geometry;
  std::uint64_t frames_decoded = 0;
  bool has_first_frame = false;
  bool ended = false;

  tl::expected<void, std::string> open_file();
  tl::expected<void, std::string> open_codec();
  tl::expected<void, std::string> decode_first_frame();
  tl::expected<bool, std::string> decode();
  tl::expected<void, std::string> feed();
  tl::unexpected<std::string> damaged(int error);
  tl::expected<void, std::string> prepare_conversion();
  void convert(std::span<std::uint8_t> rgb);
};

tl::expected<void, std::string> VideoSource::Decoder::open_file() {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return failure(path, "no such file; pass the path of a video file");
  }
  if (std::filesystem::is_directory(status)) {
    return failure(path, "is a folder; pass the path of a video file");
  }
  // Opening a pipe may block for ever, and none can be read twice.
  if (!std::filesystem::is_regular_file(status)) {
    return failure(path,
                   "is a pipe, a socket or a device; save the video to a file and pass its path");
  }

  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "file", 0);
  AVFormatContext* opened = nullptr;
  const std::string url = "file:" + path.string();
  int result = avformat_open_input(&opened, url.c_str(), nullptr, &options);
  av_dict_free(&options);
  format.reset(opened);
  if (result == AVERROR(EACCES)) {
    return failure(path, "may not be read; grant read permission or pass another file");
  }
  if (result >= 0) result = avformat_find_stream_info(opened, nullptr);
  if (result < 0) {
    return failure(path, "is not a video file, or is damaged (" + reason_for(result) +
                             "); pass a file that FFmpeg can read");
  }

  const int index = av_find_best_stream(opened, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index < 0 || (opened->streams[index]->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) {
    return failure(path, "has no video stream; pass a file with video");
  }
  // FFmpeg takes a text file for a film of a terminal.
  if (opened->streams[index]->codecpar->codec_id == AV_CODEC_ID_ANSI) {
    return failure(path, "is not a video file, but text; pass a file that FFmpeg can read");
  }
  for (unsigned i = 0; i < opened->nb_streams; ++i) {
    if (static_cast<int>(i) != index) opened->streams[i]->discard = AVDISCARD_ALL;
  }
  stream = opened->streams[index];
  return {};
}

tl::expected<void, std::string> VideoSource::Decoder::open_codec() {
  const AVCodec* decoder = avcodec_find_decoder(stream->codecpar->codec_id);
  if (decoder == nullptr) {
    return failure(path, std::string("this FFmpeg has no decoder for its format, ") +
                             avcodec_get_name(stream->codecpar->codec_id) +
                             "; convert the file to another one, H.264 for example");
  }
  codec.reset(avcodec_alloc_context3(decoder));
  if (codec == nullptr || packet == nullptr || frame == nullptr) {
    return failure(path, "no memory for a decoder; free some memory and try again");
  }
  int result = avcodec_parameters_to_context(codec.get(), stream->codecpar);
  codec->flags |= AV_CODEC_FLAG_BITEXACT;
  codec->thread_count = 1;
  // Otherwise some decoders fill in what is damaged and say nothing.
  codec->err_recognition = AV_EF_EXPLODE | AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER;
  if (result >= 0) result = avcodec_open2(codec.get(), decoder, nullptr);
  if (result < 0) {
    return failure(path, "its video can't be decoded (" + reason_for(result) +
                             "); use an intact copy of the file");
  }
  return {};
}

tl::expected<void, std::string> VideoSource::Decoder::decode_first_frame() {
  const tl::expected<bool, std::string> decoded = decode();
  if (!decoded) return tl::unexpected(decoded.error());
  if (!*decoded) return failure(path, "has no frames; use an intact copy of the file");
  geometry = {static_cast<std::uint32_t>(frame->width), static_cast<std::uint32_t>(frame->height)};
  if (geometry.half().pixels() == 0 || geometry.width > kMaxFrameSide ||
      geometry.height > kMaxFrameSide) {
    return failure(path, "its frames are " + std::to_string(geometry.width) + " x " +
                             std::to_string(geometry.height) + " pixels; sides of 2 to " +
                             std::to_string(kMaxFrameSide) + " are supported");
  }
  if (auto prepared = prepare_conversion(); !prepared) return prepared;
  has_first_frame = true;
  return {};
}

tl::unexpected<std::string> VideoSource::Decoder::damaged(int error) {
  ended = true;
  const std::string n = std::to_string(frames_decoded);
  return failure(path, "frame " + n + " is damaged or cut off (" + reason_for(error) + "), " + n +
                           " frames before it are good; use an intact copy of the file" +
                           (frames_decoded > 0 ? ", or read fewer frames" : ""));
}

// Hands the next packet of the video stream to the codec, or the news that there is none.
tl::expected<void, std::string> VideoSource::Decoder::feed() {
  for (;;) {
    int result = av_read_frame(format.get(), packet.get());
    const int io_error = format->pb != nullptr ? format->pb->error : 0;
    if (result == AVERROR_EOF && io_error < 0) result = io_error;
    if (result == AVERROR_EOF) {
      avcodec_send_packet(codec.get(), nullptr);
      return {};
    }
    if (result < 0) return damaged(result);
    if (packet->stream_index == stream->index) {
      const bool corrupt = (packet->flags & AV_PKT_FLAG_CORRUPT) != 0;
      result = corrupt ? AVERROR_INVALIDDATA : avcodec_send_packet(codec.get(), packet.get());
      av_packet_unref(packet.get());
      if (result < 0) return damaged(result);
      return {};
    }
    av_packet_unref(packet.get());
  }
}

tl::expected<bool, std::string> VideoSource::Decoder::decode() {
  if (ended) return false;
  first_complaint.clear();
  for (;;) {
    const int result = avcodec_receive_frame(codec.get(), frame.get());
    if (result == AVERROR_EOF) {
      ended = true;
      return false;
    }
    if (result == AVERROR(EAGAIN)) {
      const tl::expected<void, std::string> fed = feed();
      if (!fed) return tl::unexpected(fed.error());
      continue;
    }
    if (result < 0) return damaged(result);
    if (frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
      return damaged(AVERROR_INVALIDDATA);
    }
    ++frames_decoded;
    return true;
  }
}

// For the format of the frame at hand; a file may change it on the way.
tl::expected<void, std::string> VideoSource::Decoder::prepare_conversion() {
  const auto format_in = static_cast<AVPixelFormat>(frame->format);
  if (sws_isSupportedInput(format_in) == 0) {
    const char* name = av_get_pix_fmt_name(format_in);
    return failure(path, std::string("its pixel format ") + (name != nullptr ? name : "(unknown)") +
                             " can't be turned into RGB; convert the file to another one, " +
                             "yuv420p for example");
  }
  conversion.reset(sws_getCachedContext(conversion.release(), frame->width, frame->height,
                                        format_in, frame->width, frame->height, AV_PIX_FMT_RGB24,
                                        kConversion, nullptr, nullptr, nullptr));
  if (conversion == nullptr) {
    return failure(path, "no memory to turn its frames into RGB; free some memory and try again");
  }
  return {};
}

void VideoSource::Decoder::convert(std::span<std::uint8_t> rgb) {
  std::uint8_t* const planes[4] = {rgb.data(), nullptr, nullptr, nullptr};
  const int strides[4] = {3 * frame->width, 0, 0, 0};
  sws_scale(conversion.get(), frame->data, frame->linesize, 0, frame->height, planes, strides);
}

VideoSource::VideoSource(std::unique_ptr<Decoder> decoder) : decoder_(std::move(decoder)) {}
VideoSource::VideoSource(VideoSource&&) noexcept = default;
VideoSource& VideoSource::operator=(VideoSource&&) noexcept = default;
VideoSource::~VideoSource() = default;

tl::expected<VideoSource, std::string> VideoSource::open(const std::filesystem::path& path) {
  av_log_set_callback(keep_first_complaint);
  first_complaint.clear();
  auto decoder = std::make_unique<Decoder>();
  decoder->path = path;
  return decoder->open_file()
      .and_then([&] { return decoder->open_codec(); })
      .and_then([&] { return decoder->decode_first_frame(); })
      .map([&] { return VideoSource(std::move(decoder)); });
}

FrameGeometry VideoSource::geometry() const { return decoder_->geometry; }

FrameRate VideoSource::frame_rate() const {
  const AVRational rate = av_guess_frame_rate(decoder_->format.get(), decoder_->stream, nullptr);
  if (rate.num <= 0 || rate.den <= 0) return {25, 1};
  return {rate.num, rate.den};
}

tl::expected<bool, std::string> VideoSource::read_into(std::span<std::uint8_t> rgb) {
  Decoder& decoder = *decoder_;
  if (rgb.size() != decoder.geometry.rgb_bytes()) {
    return failure(decoder.path, "the buffer holds " + std::to_string(rgb.size()) +
                                     " bytes, a frame " +
                                     std::to_string(decoder.geometry.rgb_bytes()) +
                                     "; pass a buffer of geometry().rgb_bytes()");
  }
  if (!decoder.has_first_frame) {
    tl::expected<bool, std::string> decoded = decoder.decode();
    if (!decoded || !*decoded) return decoded;
  }
  decoder.has_first_frame = false;

  const FrameGeometry now{static_cast<std::uint32_t>(decoder.frame->width),
                          static_cast<std::uint32_t>(decoder.frame->height)};
  if (now != decoder.geometry) {
    decoder.ended = true;
    return failure(decoder.path, "frame " + std::to_string(decoder.frames_decoded - 1) + " is " +
                                     std::to_string(now.width) + " x " +
                                     std::to_string(now.height) + " pixels, those before it " +
                                     std::to_string(decoder.geometry.width) + " x " +
                                     std::to_string(decoder.geometry.height) +
                                     "; convert the file to one size");
  }
  if (auto prepared = decoder.prepare_conversion(); !prepared) {
    decoder.ended = true;
    return tl::unexpected(prepared.error());
  }
  decoder.convert(rgb);
  return true;
}

}  // namespace motion_watch
