import type { Network } from './blocks.ts'

/** The `modern` template: a white card on grey with one column of text. It has a dark mode. */

export const width = 600
export const gutter = 28
export const innerWidth = width - 2 * gutter

export const fonts = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Helvetica, Arial, sans-serif"

export const light = {
  page: '#f4f4f5',
  card: '#ffffff',
  text: '#27272a',
  heading: '#18181b',
  muted: '#63636c',
  line: '#e4e4e7',
  button: '#18181b',
  buttonText: '#ffffff',
  link: '#1d4ed8',
} as const

const dark = {
  page: '#111113',
  card: '#1c1c1f',
  text: '#e4e4e7',
  heading: '#fafafa',
  muted: '#a1a1aa',
  line: '#3f3f46',
  button: '#fafafa',
  buttonText: '#18181b',
  link: '#93c5fd',
} as const

export const networkColours: Record<Network, string> = {
  facebook: '#0866ff',
  instagram: '#c13584',
  x: '#3f3f46',
  linkedin: '#0a66c2',
  youtube: '#c4302b',
  tiktok: '#3f3f46',
  spotify: '#15803d',
  website: '#52525b',
}

/**
 * The classes select text in the template's own colours, which change in dark mode. Colours that an organiser chose
 * never change. Never put two braces next to each other here: Liquid would read them.
 */
export const styles = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body, td, th, img { font-family: ${fonts}; }
.rt p { margin: 0 0 12px; }
.rt p:last-child, .rt ul:last-child, .rt ol:last-child { margin-bottom: 0; }
.rt ul, .rt ol { margin: 0 0 12px; padding-left: 24px; }
.rt h1, .rt h2, .rt h3, .rt h4 { margin: 0 0 8px; line-height: 1.25; }
.rt blockquote { margin: 0 0 12px; padding-left: 16px; border-left: 3px solid ${light.line}; }
.rt img { max-width: 100%; }
.rt table { width: 100%; }
.mu p { margin: 0; }
.rt a { color: ${light.link}; }
.rt, .rt div, .hd div, .os td { overflow-wrap: anywhere; word-break: normal; }
@media only screen and (max-width: 620px) {
  .page { padding-left: 8px !important; padding-right: 8px !important; }
}
@media (prefers-color-scheme: dark) {
  body, .page { background-color: ${dark.page} !important; }
  .card, .card > table { background: ${dark.card} !important; background-color: ${dark.card} !important; }
  .tx div { color: ${dark.text} !important; }
  .tx a { color: ${dark.link} !important; }
  .hd div { color: ${dark.heading} !important; }
  .mu div, .mu a, .mu span { color: ${dark.muted} !important; }
  .bt td { background: ${dark.button} !important; }
  .bt a { background: ${dark.button} !important; color: ${dark.buttonText} !important; }
  .dv p { border-top-color: ${dark.line} !important; }
  .os table, .os td, .os th { color: ${dark.text} !important; border-color: ${dark.line} !important; }
  .os .mu { color: ${dark.muted} !important; }
}`
