// Owns how the front end is written: prettier's rules, applied by `npm run format`, checked by `npm run check`.
export default {
  printWidth: 120,
  semi: false,
  singleQuote: true,
  plugins: ['prettier-plugin-svelte'],
  overrides: [{ files: '*.svelte', options: { parser: 'svelte' } }],
}
