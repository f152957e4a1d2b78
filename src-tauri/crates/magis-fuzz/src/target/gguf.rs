//! The header of a model file: any bytes are a header or an error, and what a header says can be reckoned with.

use super::{CaseOutcome, FuzzTarget};
use magis_models::{GgufHeader, MemoryNeed, fits};
use magis_testkit::gguf::{Gguf, Value, text};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) struct GgufTarget {
    file: PathBuf,
}

impl GgufTarget {
    pub(super) fn open(place: &Path) -> Self {
        Self {
            file: place.join("model.gguf"),
        }
    }
}

impl FuzzTarget for GgufTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let small = Gguf::small(2);
        let mut of_a_recurrent_model = Gguf::new("lfm2")
            .with("tokenizer.ggml.model", text("gpt2"))
            .with("tokenizer.ggml.tokens", Value::Texts(vec!["a".to_owned()]))
            .with("lfm2.attention.head_count_kv", Value::Numbers(vec![0, 2]))
            .with("lfm2.shortconv.l_cache", Value::Number(3));
        for (key, number) in [
            ("block_count", 2),
            ("context_length", 128),
            ("embedding_length", 64),
            ("feed_forward_length", 64),
            ("attention.head_count", 4),
        ] {
            of_a_recurrent_model = of_a_recurrent_model.with(&format!("lfm2.{key}"), Value::Number(number));
        }
        of_a_recurrent_model.tensors.clone_from(&small.tensors);
        vec![small.bytes(), of_a_recurrent_model.bytes()]
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "GGUF",
            "general.architecture",
            "general.alignment",
            "general.type",
            "general.file_type",
            "split.count",
            "qwen2.",
            "lfm2.",
            "bert",
            "mamba",
            "gemma3",
            ".block_count",
            ".context_length",
            ".attention.head_count_kv",
            ".attention.key_length",
            ".attention.sliding_window",
            ".attention.sliding_window_pattern",
            ".ssm.state_size",
            ".ssm.inner_size",
            ".expert_used_count",
            ".pooling_type",
            "tokenizer.ggml.tokens",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        fs::write(&self.file, input).expect("the folder of the target can be written");
        let Some(header) = outcome.say_result("header", GgufHeader::read(&self.file)) else {
            return outcome;
        };
        assert_eq!(header.kv_heads.len(), header.layers as usize);
        assert!(header.kv_heads.len() <= 4096, "{} layers", header.kv_heads.len());
        for context in [1, 4_096, u32::MAX] {
            let bytes = MemoryNeed::of(&header, context).bytes();
            outcome.say_count("bytes", bytes as usize);
            outcome.say(format!("{:?}", fits(&header, context, 8 << 30)));
        }
        outcome.say(format!("{:?} {:?}", header.quantisation, header.chat_template));
        outcome
    }
}
