// Owns what is taken for a mistake in the front end's code beyond its types: ESLint's, TypeScript's and Svelte's
// recommended rules.
import js from '@eslint/js'
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

export default ts.config(
  { ignores: ['dist', 'dist-scripted', 'src/ipc/bindings.ts'] },
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      eqeqeq: 'error',
      // The type checker knows every name.
      'no-undef': 'off',
      // What is taken out of an object only to leave it behind.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Characters that are not seen are a subject here.
      'no-control-regex': 'off',
      'no-misleading-character-class': 'off',
      // A blank or a line end that must not be lost beside a tag is written as one.
      'svelte/no-useless-mustaches': 'off',
      // Maps and sets are local, or replaced as a whole in `$state.raw`; none is changed while it is shown.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
  },
)
