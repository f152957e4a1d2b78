// Owns the start of the window: styles, fonts, the one component. No state, no IPC.
import './i18n/own_locale'
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/code.css'
import { mount } from 'svelte'
import App from './App.svelte'
import { keepVisible } from './components/visible'

const target = document.getElementById('app')
// Menus and dialogues stand beside the one component.
keepVisible(document.body)
if (target) mount(App, { target })
