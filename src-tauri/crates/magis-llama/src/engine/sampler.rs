//! Chooses a token from logits: the likeliest, or one drawn at a temperature from a seed.

use super::native::Token;
use magis_llm::Sampling;

/// Of the tokens sorted by likelihood, those that make up this share are drawn from.
const TOP_P: f64 = 0.95;

/// Chooses tokens for one answer.
#[derive(Debug)]
pub struct Sampler {
    sampling: Sampling,
    state: u64,
}

impl Sampler {
    /// For a new answer.
    pub fn new(sampling: Sampling) -> Self {
        let state = match sampling {
            Sampling::Greedy => 0,
            Sampling::Temperature { seed, .. } => seed,
        };
        Self { sampling, state }
    }

    /// Returns the chosen token; none where every logit is minus infinity or not a number.
    pub fn choose(&mut self, logits: &[f32]) -> Option<Token> {
        match self.sampling {
            Sampling::Temperature { temperature, .. } if temperature > 0.0 => self.draw(logits, temperature),
            Sampling::Greedy | Sampling::Temperature { .. } => likeliest(logits).map(|(token, _)| token as Token),
        }
    }

    fn draw(&mut self, logits: &[f32], temperature: f32) -> Option<Token> {
        let (_, top) = likeliest(logits)?;
        // Below e^-16 of the likeliest a token cannot matter to a nucleus of 0.95, not even a hundred thousand of them.
        let floor = top - 16.0 * temperature;
        let mut nucleus: Vec<(usize, f64)> = logits
            .iter()
            .enumerate()
            .filter(|(_, logit)| **logit >= floor)
            .map(|(token, logit)| (token, f64::from((logit - top) / temperature).exp()))
            .collect();
        nucleus.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let total: f64 = nucleus.iter().map(|(_, weight)| weight).sum();
        let mut share = 0.0;
        let kept = nucleus.iter().position(|(_, weight)| {
            share += weight;
            share >= TOP_P * total
        });
        nucleus.truncate(kept.map_or(nucleus.len(), |last| last + 1));
        let mut point = self.uniform() * nucleus.iter().map(|(_, weight)| weight).sum::<f64>();
        let drawn = nucleus.iter().find(|(_, weight)| {
            point -= weight;
            point < 0.0
        });
        drawn.or(nucleus.last()).map(|(token, _)| *token as Token)
    }

    /// Returns the next number of splitmix64, in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The softmax of a row of logits, as far as log-probabilities need it.
#[derive(Debug, Clone, Copy)]
pub struct LogSoftmax {
    normaliser: f64,
}

impl LogSoftmax {
    /// Computes the log-probabilities of these logits.
    pub fn new(logits: &[f32]) -> Self {
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // Sums side by side, so that the loop is computed in vectors.
        let mut sums = [0.0_f64; 16];
        for chunk in logits.chunks(16) {
            for (sum, logit) in sums.iter_mut().zip(chunk) {
                *sum += f64::from((logit - top).exp());
            }
        }
        Self {
            normaliser: f64::from(top) + sums.iter().sum::<f64>().ln(),
        }
    }

    /// log P of a token, in nats.
    pub fn of(self, logits: &[f32], token: Token) -> f64 {
        let logit = usize::try_from(token).ok().and_then(|token| logits.get(token)).copied();
        f64::from(logit.unwrap_or(f32::NEG_INFINITY)) - self.normaliser
    }
}

fn likeliest(logits: &[f32]) -> Option<(usize, f32)> {
    let mut best: Option<(usize, f32)> = None;
    for (token, logit) in logits.iter().enumerate() {
        if *logit > best.map_or(f32::NEG_INFINITY, |(_, best)| best) {
            best = Some((token, *logit));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(logits: &[f32], temperature: f32, seed: u64) -> Vec<Token> {
        let mut sampler = Sampler::new(Sampling::Temperature { temperature, seed });
        (0..1000).filter_map(|_| sampler.choose(logits)).collect()
    }

    #[test]
    fn greedy_takes_the_likeliest_and_the_first_of_equals() {
        let mut sampler = Sampler::new(Sampling::Greedy);
        assert_eq!(sampler.choose(&[0.0, 3.0, 3.0, -1.0]), Some(1));
        assert_eq!(sampler.choose(&[f32::NEG_INFINITY; 3]), None);
    }

    #[test]
    fn drawing_repeats_with_its_seed_and_follows_the_probabilities() {
        let logits = [1.0_f32.ln(), 3.0_f32.ln(), f32::NEG_INFINITY];
        let drawn = draws(&logits, 1.0, 42);
        assert_eq!(drawn, draws(&logits, 1.0, 42));
        assert_ne!(drawn, draws(&logits, 1.0, 43));
        let second = drawn.iter().filter(|token| **token == 1).count();
        assert!((700..800).contains(&second), "about three quarters: {second}");
        assert!(!drawn.contains(&2), "what is masked is never drawn");
    }

    #[test]
    fn the_unlikely_tail_is_cut_off() {
        let logits = [96.0_f32.ln(), 3.0_f32.ln(), 1.0_f32.ln()];
        assert!(draws(&logits, 1.0, 1).iter().all(|token| *token == 0));
    }

    #[test]
    fn log_probabilities_are_those_of_the_softmax() {
        let logits = [1.0_f32.ln(), 3.0_f32.ln(), 4.0_f32.ln()];
        for (token, share) in [(0, 1.0_f64 / 8.0), (1, 3.0 / 8.0), (2, 0.5)] {
            assert!((LogSoftmax::new(&logits).of(&logits, token) - share.ln()).abs() < 1e-6);
        }
    }
}
