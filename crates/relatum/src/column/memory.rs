//! Memory for large arrays that are read in no particular order.
//!
//! In pages of 4 KiB a table of a million names takes more entries than the processor's cache of
//! addresses (TLB) holds, and translating an address costs more than fetching the data. Linux
//! gives pages of 2 MiB on request; elsewhere these are plain `Vec`s.

use bytemuck::Zeroable;

/// Arrays below this size stay in ordinary pages.
const LARGE: usize = 4 << 20;

/// A `Vec` of zeros.
pub(crate) fn zeroed<T: Zeroable>(len: usize) -> Vec<T> {
    let mut values = bytemuck::zeroed_vec(len);
    ask_for_large_pages(&mut values);
    values
}

/// Makes room for `additional` more values; what is there already stays.
pub(crate) fn reserve<T>(values: &mut Vec<T>, additional: usize) {
    if values.capacity() - values.len() < additional {
        values.reserve(additional);
        ask_for_large_pages(values);
    }
}

#[cfg(target_os = "linux")]
fn ask_for_large_pages<T>(values: &mut Vec<T>) {
    const PAGE: usize = 4096;
    let start = values.as_mut_ptr() as usize;
    let end = (start + values.capacity() * size_of::<T>()) / PAGE * PAGE;
    let start = start.next_multiple_of(PAGE);
    if end.saturating_sub(start) < LARGE {
        return;
    }
    // SAFETY: the pages lie within one allocation of ours, and the advice changes neither what they
    // hold nor who may reach them. If the kernel declines, nothing changes.
    #[allow(unsafe_code)]
    unsafe {
        libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_: &mut Vec<T>) {
    let _ = LARGE;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_keep_what_is_in_them() {
        let mut values: Vec<u32> = zeroed(LARGE);
        assert!(values.iter().all(|&value| value == 0));
        values.fill(7);
        reserve(&mut values, 3 * LARGE);
        assert!(values.capacity() >= 4 * LARGE);
        assert!(values.iter().all(|&value| value == 7));
    }
}
