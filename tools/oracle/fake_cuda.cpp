// A device guard for CUDA that does nothing. With it a PyTorch without CUDA runs
// autograd, autocast and optimizers over fake tensors on a `cuda` device
// (torch._subclasses.fake_tensor): shapes, types and storages, but no kernels.
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

struct Nothing final : c10::impl::DeviceGuardImplInterface {
  static c10::Device card() { return {c10::DeviceType::CUDA, 0}; }
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, card()); }

  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device getDevice() const override { return card(); }
  c10::Device exchangeDevice(c10::Device) const override { return card(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device) const noexcept override {
    return stream();
  }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    return stream();
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override {
    return stream();
  }
  bool queryStream(const c10::Stream &) const override { return true; }
  void synchronizeStream(const c10::Stream &) const override {}
  void recordDataPtrOnStream(const c10::DataPtr &,
                             const c10::Stream &) const override {}

  void record(void **, const c10::Stream &, c10::DeviceIndex,
              c10::EventFlag) const override {}
  void block(void *, const c10::Stream &) const override {}
  bool queryEvent(void *) const override { return true; }
  void destroyEvent(void *, c10::DeviceIndex) const noexcept override {}
};

} // namespace

C10_REGISTER_GUARD_IMPL(CUDA, Nothing)
