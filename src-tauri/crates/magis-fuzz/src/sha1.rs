//! SHA-1, with which git seals its index, its packs and their indexes. For checksums of inputs alone.

/// Returns the SHA-1 of these bytes.
pub(crate) fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0_u32; 80];
        for (word, four) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = four.iter().fold(0, |all, byte| all << 8 | u32::from(*byte));
        }
        for at in 16..80 {
            words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
        }
        let [mut one, mut two, mut three, mut four, mut five] = state;
        for (at, word) in words.iter().enumerate() {
            let (mixed, constant) = match at / 20 {
                0 => (two & three | !two & four, 0x5a82_7999),
                1 => (two ^ three ^ four, 0x6ed9_eba1),
                2 => (two & three | two & four | three & four, 0x8f1b_bcdc),
                _ => (two ^ three ^ four, 0xca62_c1d6),
            };
            let next = one
                .rotate_left(5)
                .wrapping_add(mixed)
                .wrapping_add(five)
                .wrapping_add(constant)
                .wrapping_add(*word);
            (five, four, three, two, one) = (four, three, two.rotate_left(30), one, next);
        }
        for (kept, new) in state.iter_mut().zip([one, two, three, four, five]) {
            *kept = kept.wrapping_add(new);
        }
    }
    let mut digest = [0; 20];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::sha1;

    #[test]
    fn the_hash_is_the_one_of_the_standard() {
        let hex = |bytes: &[u8]| {
            sha1(bytes)
                .iter()
                .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
        };
        assert_eq!(hex(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(hex(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hex(&vec![b'a'; 1_000_000]), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    }
}
