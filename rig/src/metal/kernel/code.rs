//! One loop: its text, and the function into which just that text is assembled.
//!
//! Knows the registers in which a loop is given its work. Must not know what any loop does.
//!
//! `x86_64`: rdi = `to`, rsi = `one`, rdx = `two`, rcx = `bytes`, r8 = `passes`, xmm0 = `scalar`.
//! Free besides: what a C function may overwrite, and r12 to r15.

/// What a loop is given. Only the door makes one.
#[derive(Debug)]
pub(super) struct Args {
    /// Where results go.
    pub to: *mut u8,
    /// What is read first.
    pub one: *const u8,
    /// What is read second; for a copy by blocks the block that is written between.
    pub two: *mut u8,
    /// Length of an array, a multiple of the row's granule, above zero.
    pub bytes: usize,
    /// How often all of it is done, above zero.
    pub passes: u64,
    /// What is written, or multiplied by.
    pub scalar: f64,
}

/// A loop over all passes.
///
/// # Safety
/// The CPU has what the row needs; pointers are aligned to 64 bytes and good for `bytes` (`two` of
/// a copy by blocks: for the block); `to` overlaps neither of the others; `bytes` is a multiple of
/// the granule; neither `bytes` nor `passes` is zero.
pub(super) type Call = unsafe fn(&Args);

/// A loop and its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    /// As assembled; empty for what is not of ours to write.
    pub text: &'static str,
    /// The loop.
    pub call: Call,
}

/// Makes a [`Code`] out of a text, once as it is read by tests and once assembled.
#[cfg(target_arch = "x86_64")]
macro_rules! code {
    ($text:expr) => {{
        unsafe fn call(args: &$crate::metal::kernel::code::Args) {
            // SAFETY: the caller promises pointers, lengths and features; the text touches only
            // what they reach and the registers that are named here, and leaves the stack alone.
            unsafe {
                std::arch::asm!(
                    $text,
                    in("rdi") args.to, in("rsi") args.one, in("rdx") args.two,
                    in("rcx") args.bytes, in("r8") args.passes, in("xmm0") args.scalar,
                    out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                    clobber_abi("sysv64"), options(nostack),
                );
            }
        }
        $crate::metal::kernel::code::Code { text: $text, call }
    }};
}

#[cfg(target_arch = "x86_64")]
pub(super) use code;
