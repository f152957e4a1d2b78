// Owns the Chinese sentences on what each model that is offered is good for, by its name in the catalogue or on the hub.
// English is Rust's own, and stands where a model is not here.
export const zh_hans: Partial<Record<string, string>> = {
  'qwen2.5-coder-1.5b': '任何笔记本都能运行，适合改动集中的小修复。可从它开始，不宜长期使用。',
  'qwen2.5-coder-7b': '日常可用的最小模型，需要 8 GB 空闲内存。',
  'qwen2.5-coder-14b': '计划与改动都优于 7B，速度约为其一半，需要 16 GB 空闲内存。',
  'qwen3-coder-30b-a3b':
    '30B 须全部载入内存，但每个词元只用到其中少部分：有 24 GB 空闲内存时，以其质量而言很快。SWE-bench Verified 31.8（独立测试 whatmodel.sh）。',
  'qwen2.5-coder-32b': '同系列中最强，也是这里最慢的；需要 24 GB 空闲内存和耐心。',
  'qwen3.5-4b': '最新的小模型，在 8 GB 的机器上仍有余地；回答前思考较久。没有已知的 SWE-bench Verified 成绩。',
  'qwen3.5-9b':
    '适合 8 GB 机器的最强模型；回答前思考较久。SWE-bench Pro 38（开发者自测），没有已知的 SWE-bench Verified 成绩。',
  'gpt-oss-20b':
    '适合 16 GB 的编码模型：每个词元只用到少部分权重，以其规模而言很快。SWE-bench Verified 60.7（开发者自测，arXiv 2604.00362 复现）。',
  'qwen3.6-35b-a3b':
    '24 或 32 GB 机器的首选，没有显卡也行：能力强，以其规模而言很快。SWE-bench Verified 73.4（开发者自测）、64.4（独立测试 whatmodel.sh）。',
  'qwen3.6-27b':
    '显卡能全部装下时，这里最强；每个词元都用到全部权重，没有显卡则太慢。SWE-bench Verified 77.2（开发者自测）。',
  'granite-3.3-8b': '另一系列的通用模型，上下文长，可替代 7B。',
  'qwen2.5-coder-0.5b': '可在很小的机器上试用，修复很少正确。',
  'hf:unsloth/Devstral-Small-2-24B-Instruct-2512-GGUF':
    '为在代码上工作的智能体而作；每个词元都用到全部权重。SWE-bench Verified 68.0（开发者自测）。',
  'hf:unsloth/GLM-4.7-Flash-GGUF': '另一系列的编码模型，其上下文占用内存少。SWE-bench Verified 59.2（开发者自测）。',
  'hf:unsloth/gemma-4-26B-A4B-it-GGUF':
    '通用模型，以其规模而言很快；代码能力弱于同档的 Qwen。SWE-bench Verified 35.8（独立测试 whatmodel.sh）。',
  'hf:unsloth/Qwen3.8-27B-GGUF': '用于能全部装下它的显卡；没有显卡则太慢。SWE-bench Pro 61.7（开发者自测）。',
  'hf:unsloth/Muse-Glimmer-30B-GGUF': '用于能全部装下它的显卡；没有显卡则太慢。SWE-bench Verified 76.0（开发者自测）。',
  'hf:unsloth/Qwen3-Coder-Next-GGUF':
    '64 GB 机器的编码模型，没有显卡也行：每个词元只用到少部分权重，也不会长时间思考。SWE-bench Verified 70.6（开发者自测）。',
  'smollm2-135m': '仅供程序自身的测试，它的回答没有用处。',
}
