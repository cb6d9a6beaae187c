//! How memory is taken from the system.

/// Bytes that are asked for at a time. A start uses a few megabytes in all.
#[cfg(target_env = "gnu")]
const STEP: i32 = 1 << 20;

/// Blocks of this size are asked for, and given back, one by one. The C library would find such a size by
/// itself if it was not told how to take memory.
#[cfg(target_env = "gnu")]
const OWN: i32 = 4 << 20;

/// Has memory taken in large steps. By default a thread of its own asks for it page by page, and a tenth of a
/// short command is spent on that.
pub(crate) fn in_large_steps() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "there is no other way to tell the C library")]
    // SAFETY: `mallopt` takes two numbers and no pointers, and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, STEP);
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * OWN);
    }
}
