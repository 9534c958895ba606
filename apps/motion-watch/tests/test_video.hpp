// SPDX-License-Identifier: Apache-2.0
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <memory>

#include "scene.hpp"

namespace motion_watch {

/// How a test's video is packed.
enum class TestCodec {
  kMpeg4,          ///< Most frames depend on those before, and damage is noticed.
  kRaw,            ///< Pixels as they are: frames of any size. Needs the ending .nut.
  kRawUnreadable,  ///< The same, in a pixel format that can't be turned into RGB.
};

/// Encodes moving bars at 12 frames per second; the ending of the path chooses the container.
/// Whatever fails fails the test case.
class TestVideoWriter {
 public:
  TestVideoWriter(const std::filesystem::path& path, TestCodec kind, FrameGeometry geometry) {
    AVFormatContext* created = nullptr;
    REQUIRE(avformat_alloc_output_context2(&created, nullptr, nullptr, path.c_str()) >= 0);
    format_.reset(created);
    const AVCodec* encoder =
        avcodec_find_encoder(kind == TestCodec::kMpeg4 ? AV_CODEC_ID_MPEG4 : AV_CODEC_ID_RAWVIDEO);
    REQUIRE(encoder != nullptr);
    codec_.reset(avcodec_alloc_context3(encoder));
    codec_->width = static_cast<int>(geometry.width);
    codec_->height = static_cast<int>(geometry.height);
    codec_->time_base = {1, 12};
    codec_->framerate = {12, 1};
    codec_->pix_fmt = kind == TestCodec::kRawUnreadable ? AV_PIX_FMT_UYYVYY411 : AV_PIX_FMT_YUV420P;
    codec_->flags |= AV_CODEC_FLAG_BITEXACT;
    if ((format_->oformat->flags & AVFMT_GLOBALHEADER) != 0) {
      codec_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    REQUIRE(avcodec_open2(codec_.get(), encoder, nullptr) >= 0);
    stream_ = avformat_new_stream(created, nullptr);
    stream_->time_base = codec_->time_base;
    stream_->avg_frame_rate = codec_->framerate;
    REQUIRE(avcodec_parameters_from_context(stream_->codecpar, codec_.get()) >= 0);
    REQUIRE(avio_open(&created->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0);
    REQUIRE(avformat_write_header(created, nullptr) >= 0);

    frame_->format = codec_->pix_fmt;
    frame_->width = codec_->width;
    frame_->height = codec_->height;
    REQUIRE(av_frame_get_buffer(frame_.get(), 0) >= 0);
  }

  void encode(int number) {
    REQUIRE(av_frame_make_writable(frame_.get()) >= 0);
    for (int plane = 0; plane < 3 && frame_->data[plane] != nullptr; ++plane) paint(plane, number);
    frame_->pts = number;
    REQUIRE(avcodec_send_frame(codec_.get(), frame_.get()) >= 0);
    write_packets();
  }

  void finish() {
    REQUIRE(avcodec_send_frame(codec_.get(), nullptr) >= 0);
    write_packets();
    REQUIRE(av_write_trailer(format_.get()) >= 0);
  }

 private:
  struct FreeFormat {
    void operator()(AVFormatContext* p) const {
      avio_closep(&p->pb);
      avformat_free_context(p);
    }
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

  void paint(int plane, int number) {
    const int width = plane == 0 ? frame_->width : (frame_->width + 1) / 2;
    const int height = plane == 0 ? frame_->height : (frame_->height + 1) / 2;
    for (int y = 0; y < height; ++y) {
      std::uint8_t* row = frame_->data[plane] + std::ptrdiff_t{y} * frame_->linesize[plane];
      for (int x = 0; x < width; ++x) {
        const int bar = ((x + 3 * number) / 8 + y / 8) % 3;
        row[x] = static_cast<std::uint8_t>(64 + 60 * plane + 24 * bar);
      }
    }
  }

  void write_packets() {
    while (avcodec_receive_packet(codec_.get(), packet_.get()) >= 0) {
      av_packet_rescale_ts(packet_.get(), codec_->time_base, stream_->time_base);
      packet_->duration = av_rescale_q(1, codec_->time_base, stream_->time_base);
      REQUIRE(av_interleaved_write_frame(format_.get(), packet_.get()) >= 0);
    }
  }

  std::unique_ptr<AVFormatContext, FreeFormat> format_;
  std::unique_ptr<AVCodecContext, FreeCodec> codec_;
  std::unique_ptr<AVPacket, FreePacket> packet_{av_packet_alloc()};
  std::unique_ptr<AVFrame, FreeFrame> frame_{av_frame_alloc()};
  AVStream* stream_ = nullptr;
};

inline void write_test_video(const std::filesystem::path& path, TestCodec codec,
                             FrameGeometry geometry, int frames) {
  TestVideoWriter writer(path, codec, geometry);
  for (int i = 0; i < frames; ++i) writer.encode(i);
  writer.finish();
}

}  // namespace motion_watch
