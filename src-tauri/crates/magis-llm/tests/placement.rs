//! Where models of 2026 are put on machines of 2026, from the values of their headers.

#![allow(clippy::unwrap_used, reason = "a failing fixture should stop the test")]

use magis_llm::memory::{KvType, Metadata};
use magis_llm::placement::{Loading, Machine, Placement, TooLarge, Wishes, place};
use magis_llm::size::{ModelSize, TensorSize};
use std::collections::BTreeMap;

const GIB: u64 = 1 << 30;
const Q4_K: u32 = 12;
const MXFP4: u32 = 39;

struct Header(BTreeMap<String, u64>);

impl Metadata for Header {
    fn number(&self, key: &str) -> Option<u64> {
        self.0.get(key).copied()
    }

    fn numbers(&self, _: &str) -> Option<Vec<u64>> {
        None
    }
}

/// A model whose layers are all alike.
struct Model {
    architecture: &'static str,
    keys: &'static [(&'static str, u64)],
    vocabulary: u32,
    /// Bytes of a layer without its experts, and of its experts.
    layer: (u64, u64),
    /// Bytes of the tokens' vectors and of the output.
    ends: (u64, u64),
    storage: u32,
}

impl Model {
    fn size(&self) -> ModelSize {
        let keys = self
            .keys
            .iter()
            .map(|(key, value)| (format!("{}.{key}", self.architecture), *value));
        let header = Header(keys.collect());
        let layers = header.0[&format!("{}.block_count", self.architecture)];
        let mut tensors = vec![
            ("token_embd.weight".to_owned(), self.ends.0),
            ("output.weight".to_owned(), self.ends.1),
        ];
        for layer in 0..layers {
            tensors.push((format!("blk.{layer}.attn_q.weight"), self.layer.0));
            tensors.push((format!("blk.{layer}.ffn_gate_up_exps.weight"), self.layer.1 / 3 * 2));
            tensors.push((format!("blk.{layer}.ffn_down_exps.weight"), self.layer.1 / 3));
        }
        let tensors = tensors.iter().map(|(name, bytes)| TensorSize {
            name,
            bytes: *bytes,
            storage: self.storage,
        });
        ModelSize::of(self.architecture, &header, self.vocabulary, tensors)
    }
}

/// Qwen3.6-35B-A3B, `Q4_K_M`: 22 GB.
const MOE_35B: Model = Model {
    architecture: "qwen35moe",
    keys: &[
        ("block_count", 40),
        ("context_length", 262_144),
        ("embedding_length", 2048),
        ("full_attention_interval", 4),
        ("attention.head_count", 16),
        ("attention.head_count_kv", 2),
        ("attention.key_length", 256),
        ("attention.value_length", 256),
        ("expert_count", 256),
        ("expert_used_count", 8),
        ("expert_feed_forward_length", 512),
        ("ssm.conv_kernel", 4),
        ("ssm.inner_size", 4096),
        ("ssm.state_size", 128),
        ("ssm.group_count", 16),
    ],
    vocabulary: 248_320,
    layer: (25 << 20, 498 << 20),
    ends: (286 << 20, 417 << 20),
    storage: Q4_K,
};

/// Qwen3.6-27B, `Q4_K_M`: 17 GB, every weight used for every token.
const DENSE_27B: Model = Model {
    architecture: "qwen35",
    keys: &[
        ("block_count", 64),
        ("context_length", 262_144),
        ("embedding_length", 5120),
        ("feed_forward_length", 17_408),
        ("full_attention_interval", 4),
        ("attention.head_count", 24),
        ("attention.head_count_kv", 4),
        ("attention.key_length", 256),
        ("attention.value_length", 256),
        ("ssm.conv_kernel", 4),
        ("ssm.inner_size", 6144),
        ("ssm.state_size", 128),
        ("ssm.group_count", 16),
    ],
    vocabulary: 248_320,
    layer: (228 << 20, 0),
    ends: (715 << 20, 1043 << 20),
    storage: Q4_K,
};

/// Qwen2.5-Coder 7B, `Q4_K_M`.
const DENSE_7B: Model = Model {
    architecture: "qwen2",
    keys: &[
        ("block_count", 28),
        ("context_length", 32_768),
        ("embedding_length", 3584),
        ("feed_forward_length", 18_944),
        ("attention.head_count", 28),
        ("attention.head_count_kv", 4),
    ],
    vocabulary: 152_064,
    layer: (132 << 20, 0),
    ends: (292 << 20, 426 << 20),
    storage: Q4_K,
};

/// gpt-oss-20b: 12 GB.
const GPT_OSS: Model = Model {
    architecture: "gpt-oss",
    keys: &[
        ("block_count", 24),
        ("context_length", 131_072),
        ("embedding_length", 2880),
        ("feed_forward_length", 2880),
        ("attention.head_count", 64),
        ("attention.head_count_kv", 8),
        ("attention.key_length", 64),
        ("attention.value_length", 64),
        ("attention.sliding_window", 128),
        ("expert_count", 32),
        ("expert_used_count", 4),
        ("expert_feed_forward_length", 2880),
    ],
    vocabulary: 201_088,
    layer: (30 << 20, 403 << 20),
    ends: (586 << 20, 586 << 20),
    storage: MXFP4,
};

fn main_alone(free: u64) -> Machine {
    Machine {
        main: free,
        device: None,
    }
}

fn with_device(main: u64, device: u64) -> Machine {
    Machine {
        main,
        device: Some(device),
    }
}

fn placed(machine: Machine, model: &Model) -> Placement {
    place(machine, &model.size(), &Wishes::default()).unwrap()
}

#[test]
fn experts_stay_in_main_memory_where_the_device_is_small() {
    // 8 GB of video memory with half a GB in use, 32 GB of main memory with 4 in use.
    let placement = placed(with_device(28 * GIB, 15 * GIB / 2), &MOE_35B);
    assert_eq!((placement.context, placement.kv_type), (32_768, KvType::F16));
    // Attention and states of all layers, and the experts of the last few.
    assert_eq!(placement.gpu_layers, 41);
    assert!((30..40).contains(&placement.host_experts), "{placement:?}");
    assert!(placement.need.device <= 13 * GIB / 2, "{placement:?}");
    assert_eq!(placement.loading, Loading::Mapped);
}

#[test]
fn on_main_memory_alone_a_large_model_stays_in_the_pages_of_its_file() {
    let placement = placed(main_alone(28 * GIB), &MOE_35B);
    assert_eq!((placement.gpu_layers, placement.host_experts), (0, 0));
    assert_eq!(placement.loading, Loading::Mapped);
    assert_eq!((placement.context, placement.kv_type), (32_768, KvType::F16));
    // 21.0 GiB of weights, 0.6 of keys and values, 0.7 of states.
    assert!((22 * GIB..24 * GIB).contains(&placement.need.main), "{placement:?}");
}

#[test]
fn all_goes_to_a_device_that_holds_it() {
    let placement = placed(with_device(28 * GIB, 47 * GIB), &MOE_35B);
    assert_eq!((placement.gpu_layers, placement.host_experts), (41, 0));
    let placement = placed(with_device(28 * GIB, 23 * GIB), &DENSE_27B);
    assert_eq!((placement.gpu_layers, placement.host_experts), (65, 0));
    assert!(placement.need.main < 2 * GIB, "{placement:?}");
}

#[test]
fn of_a_dense_model_the_last_layers_go_to_a_small_device() {
    let placement = placed(with_device(28 * GIB, 15 * GIB / 2), &DENSE_27B);
    assert!((10..25).contains(&placement.gpu_layers), "{placement:?}");
    assert_eq!(placement.host_experts, 0);
    let without = placed(main_alone(28 * GIB), &DENSE_27B);
    assert!(placement.need.main < without.need.main - 4 * GIB, "{placement:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_numbers_and_with_what_would() {
    let refused = place(main_alone(14 * GIB), &DENSE_27B.size(), &Wishes::default()).unwrap_err();
    insta::assert_snapshot!(refused, @"with a context of 1024 tokens it needs 19.4 GB of memory and 15.0 GB are free, of which 1.1 GB are left to other programs; a model of up to 11.7 GB would fit");
    let asked = Wishes {
        context: Some(32_768),
        ..Wishes::default()
    };
    let refused = place(main_alone(6 * GIB), &DENSE_7B.size(), &asked).unwrap_err();
    insta::assert_snapshot!(refused, @"with a context of 32768 tokens it needs 6.8 GB of memory and 6.4 GB are free, of which 1.1 GB are left to other programs; a context of 18944 tokens would fit");
    let asked = Wishes {
        gpu_layers: Some(40),
        ..Wishes::default()
    };
    let refused = place(with_device(28 * GIB, 15 * GIB / 2), &DENSE_27B.size(), &asked).unwrap_err();
    insta::assert_snapshot!(refused, @"40 of its layers with a context of 1024 tokens need 11.8 GB on the graphics device and 8.1 GB are free, of which 1.1 GB are left to other programs; ask for fewer layers, or leave the choice");
}

#[test]
fn a_short_memory_costs_precision_before_it_costs_half_of_the_context() {
    let size = DENSE_7B.size();
    let context = |machine| {
        let placement = place(machine, &size, &Wishes::default()).unwrap();
        (placement.context, placement.kv_type)
    };
    assert_eq!(context(main_alone(8 * GIB)), (32_768, KvType::F16));
    // Enough is left for a usual prompt.
    let (tokens, kv_type) = context(main_alone(13 * GIB / 2));
    assert!((8192..20_000).contains(&tokens), "{tokens}");
    assert_eq!(kv_type, KvType::F16);
    let (tokens, kv_type) = context(main_alone(23 * GIB / 4));
    assert!((8192..12_000).contains(&tokens), "{tokens}");
    assert_eq!(kv_type, KvType::Q8);
}

#[test]
fn what_a_person_asks_for_is_kept() {
    let machine = with_device(28 * GIB, 15 * GIB / 2);
    let wishes = Wishes {
        context: Some(4096),
        batch: Some(256),
        kv_type: Some(KvType::Q8),
        gpu_layers: Some(41),
        host_experts: Some(40),
        ..Wishes::default()
    };
    let placement = place(machine, &MOE_35B.size(), &wishes).unwrap();
    assert_eq!(
        (placement.context, placement.batch, placement.kv_type),
        (4096, 256, KvType::Q8)
    );
    assert_eq!((placement.gpu_layers, placement.host_experts), (41, 40));
    let none = Wishes {
        gpu_layers: Some(0),
        ..Wishes::default()
    };
    let placement = place(machine, &MOE_35B.size(), &none).unwrap();
    assert_eq!((placement.gpu_layers, placement.need.device), (0, 0));
    for (context, message) in [(0, "0 tokens"), (300_000, "trained on 262144")] {
        let wishes = Wishes {
            context: Some(context),
            ..Wishes::default()
        };
        let refused: TooLarge = place(machine, &MOE_35B.size(), &wishes).unwrap_err();
        assert!(refused.to_string().contains(message), "{refused}");
    }
}

#[test]
fn heads_are_loaded_where_there_is_room_beside_the_rest() {
    let keys: Vec<(&str, u64)> = DENSE_27B.keys.to_vec();
    let with_heads = Model {
        keys: Box::leak(
            [&keys[1..], &[("block_count", 65), ("nextn_predict_layers", 1)]]
                .concat()
                .into_boxed_slice(),
        ),
        ..DENSE_27B
    };
    let without = placed(main_alone(40 * GIB), &DENSE_27B);
    let with = placed(main_alone(40 * GIB), &with_heads);
    assert!(with.heads && !without.heads);
    // A layer's weights, keys and values of one of them for 32,768 tokens, and a step of their own.
    let more = with.need.main - without.need.main;
    assert!((GIB / 3..GIB).contains(&more), "{more}");
    let on_device = placed(with_device(28 * GIB, 24 * GIB), &with_heads);
    assert!(on_device.heads, "{on_device:?}");
    let short = place(
        main_alone(without.need.main + GIB + (64 << 20)),
        &with_heads.size(),
        &Wishes::default(),
    );
    assert!(!short.unwrap().heads);
}

#[test]
fn heads_that_a_file_states_and_does_not_hold_are_not_loaded() {
    let header = Header(BTreeMap::from([
        ("qwen35.block_count".to_owned(), 2),
        ("qwen35.nextn_predict_layers".to_owned(), 1),
        ("qwen35.context_length".to_owned(), 4096),
        ("qwen35.embedding_length".to_owned(), 64),
    ]));
    let trunk = TensorSize {
        name: "blk.0.ffn_up.weight",
        bytes: 1000,
        storage: 0,
    };
    let size = ModelSize::of("qwen35", &header, 100, [trunk]);
    assert!(!place(main_alone(8 * GIB), &size, &Wishes::default()).unwrap().heads);
    let heads = TensorSize {
        name: "blk.1.ffn_up.weight",
        ..trunk
    };
    let size = ModelSize::of("qwen35", &header, 100, [trunk, heads]);
    assert!(place(main_alone(8 * GIB), &size, &Wishes::default()).unwrap().heads);
}

#[test]
fn weights_are_reordered_where_only_that_is_fast_and_much_memory_stays_free() {
    assert_eq!(placed(main_alone(28 * GIB), &GPT_OSS).loading, Loading::Read);
    assert_eq!(placed(main_alone(16 * GIB), &GPT_OSS).loading, Loading::Mapped);
}

#[test]
fn no_header_is_large_enough_to_overflow() {
    let absurd = Model {
        keys: &[
            ("block_count", 4096),
            ("context_length", 4_294_967_295),
            ("embedding_length", u64::MAX),
            ("feed_forward_length", u64::MAX),
            ("attention.head_count", 1),
            ("attention.head_count_kv", u64::MAX),
            ("expert_used_count", u64::MAX),
            ("expert_feed_forward_length", u64::MAX),
        ],
        layer: (u64::MAX / 2, u64::MAX / 2),
        ..DENSE_7B
    };
    for machine in [
        main_alone(u64::MAX),
        with_device(u64::MAX - 1, u64::MAX - 1),
        with_device(0, 0),
    ] {
        // An answer, whichever.
        let _ = place(machine, &absurd.size(), &Wishes::default());
    }
}
