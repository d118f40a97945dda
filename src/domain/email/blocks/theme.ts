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

/** A rule of CSS, and what the HTML contains if the rule concerns it. Null: every message needs the rule. */
type Rule = readonly [part: RegExp | null, rule: string]

/**
 * The classes select text in the template's own colours, which change in dark mode. Colours that an organiser chose
 * never change.
 */
const rules: readonly Rule[] = [
  [null, ':root{color-scheme:light dark;supported-color-schemes:light dark}'],
  [null, `body,td,th,img{font-family:${fonts}}`],
  [/<p[ >]/, '.rt p{margin:0 0 12px}'],
  [/<p[ >]/, '.rt p:last-child{margin-bottom:0}'],
  [/<ul/, '.rt ul{margin:0 0 12px;padding-left:24px}'],
  [/<ul/, '.rt ul:last-child{margin-bottom:0}'],
  [/<ol/, '.rt ol{margin:0 0 12px;padding-left:24px}'],
  [/<ol/, '.rt ol:last-child{margin-bottom:0}'],
  [/<h[1-4]/, '.rt h1,.rt h2,.rt h3,.rt h4{margin:0 0 8px;line-height:1.25}'],
  [/<blockquote/, `.rt blockquote{margin:0 0 12px;padding-left:16px;border-left:3px solid ${light.line}}`],
  [/<img/, '.rt img{max-width:100%}'],
  [null, '.rt table{width:100%}'],
  [/<p[ >]/, '.mu p{margin:0}'],
  [null, `.rt a{color:${light.link}}`],
  [null, '.rt,.rt div,.hd div,.os td{overflow-wrap:anywhere;word-break:normal}'],
]

const darkRules: readonly Rule[] = [
  [null, `body,.page{background-color:${dark.page} !important}`],
  [null, `.card,.card>table{background:${dark.card} !important;background-color:${dark.card} !important}`],
  [/tx"/, `.tx div{color:${dark.text} !important}`],
  [/tx"/, `.tx a{color:${dark.link} !important}`],
  [/hd"/, `.hd div{color:${dark.heading} !important}`],
  [null, `.mu div,.mu a,.mu span{color:${dark.muted} !important}`],
  [/bt"/, `.bt td{background:${dark.button} !important}`],
  [/bt"/, `.bt a{background:${dark.button} !important;color:${dark.buttonText} !important}`],
  [/dv"/, `.dv p{border-top-color:${dark.line} !important}`],
  [/os"/, `.os table,.os td,.os th{color:${dark.text} !important;border-color:${dark.line} !important}`],
  [/os"/, `.os .mu{color:${dark.muted} !important}`],
]

const narrowRules =
  '@media only screen and (max-width:620px){.page{padding-left:8px !important;padding-right:8px !important} }'

/**
 * Builds the styles for the HTML of a message, without rules for what it does not contain. Two braces never stand next
 * to each other, because Liquid would read them.
 */
export function buildStyles(html: string): string {
  const pick = (all: readonly Rule[]) =>
    all.flatMap(([part, rule]) => (part === null || part.test(html) ? [rule] : [])).join('')
  return `${pick(rules)}${narrowRules}@media (prefers-color-scheme:dark){${pick(darkRules)} }`
}
