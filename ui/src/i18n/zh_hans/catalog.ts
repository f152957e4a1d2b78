// Owns the Chinese sentences on what each model of the catalogue is good for, by its name there. English is the
// catalogue's own, and stands where a model is not here.
export const zh_hans: Partial<Record<string, string>> = {
  'qwen2.5-coder-1.5b': '任何笔记本都能运行，适合改动集中的小修复。可从它开始，不宜长期使用。',
  'qwen2.5-coder-7b': '日常可用的最小模型，需要 8 GB 空闲内存。',
  'qwen2.5-coder-14b': '计划与改动都优于 7B，速度约为其一半，需要 16 GB 空闲内存。',
  'qwen3-coder-30b-a3b': '30B 须全部载入内存，但每个词元只用到其中少部分：有 24 GB 空闲内存时，以其质量而言很快。',
  'qwen2.5-coder-32b': '同系列中最强，也是这里最慢的；需要 24 GB 空闲内存和耐心。',
  'granite-3.3-8b': '另一系列的通用模型，上下文长，可替代 7B。',
  'qwen2.5-coder-0.5b': '可在很小的机器上试用，修复很少正确。',
  'smollm2-135m': '仅供程序自身的测试，它的回答没有用处。',
}
