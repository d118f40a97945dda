import type { Block } from '../../src/domain/email/blocks/blocks.ts'
import type { Message, Template } from '../../src/domain/email/compile.ts'
import { hostileTemplates } from '../../test/support/hostile-templates.ts'
import { importWasm } from '../support/wasm.ts'

importWasm()
const { cleaned, faultsOf } = await import('../../src/domain/email/check.ts')
const { compile } = await import('../../src/domain/email/compile.ts')
const { parse } = await import('../../src/domain/email/liquid/liquid.ts')
const { personalise } = await import('../../src/domain/email/personalise.ts')
const { previewOf } = await import('../../src/domain/email/preview.ts')
const { cleanRichText } = await import('../../src/domain/email/blocks/rich-text.ts')
const { trackable } = await import('../../src/domain/email/trackable.ts')
const { sampleContext } = await import('../../src/domain/email/liquid/variables.ts')
const { measureTexts } = await import('../../src/domain/messaging/sms.ts')

/**
 * What one hostile text makes the service do, in this process: the least of several runs is the time of the processor
 * on a machine that has other work too. `first` is the first run.
 */
interface Took {
  least: number
  first: number
}

const warmUps = 5
const runs = 20
const goalMs = 20
const phases = ['save', 'compile', 'render', 'preview', 'sms'] as const
type Phase = (typeof phases)[number]

interface Row {
  name: string
  verdict: string
  took: Partial<Record<Phase, Took>>
}

const framing = { defaultLanguage: 'en', title: 'Nordlys Festival 2026', sender: 'Nordlys' } as const

let made = 0
/** Texts that were read a moment ago are not read again: none is like another. */
const unlike = (text: string): string => `${text} ${made++}`

function took(work: () => void): Took {
  const times = Array.from({ length: warmUps + runs }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return { least: Math.min(...times.slice(warmUps)), first: times[0] ?? 0 }
}

const blocksOf = (text: string): Block[] => [{ id: 'x', type: 'rich_text', data: { text: { en: text } } }]
const messageOf = (blocks: Block[]): Message => ({ subject: { en: 'News' }, blocks, template: 'modern' })

function save(text: string): string {
  const blocks = blocksOf(unlike(text))
  const [fault] = faultsOf({ blocks })
  if (fault) return fault.detail
  JSON.stringify(cleaned(blocks))
  return 'accepted'
}

function prepare(stored: string): Template {
  const template = trackable(compile(messageOf(blocksOf(unlike(stored))), 'en', framing))
  parse('html', template.html)
  parse('text', template.text)
  return template
}

/** Values of recipients may make more of a text than the samples: it ends there. */
function attempt(work: () => unknown): string {
  try {
    work()
    return 'accepted'
  } catch (error) {
    return error instanceof Error ? error.message : 'failed'
  }
}

function rowOf(name: string, text: string): Row {
  let verdict = ''
  const row: Row = { name, verdict, took: { save: took(() => void (verdict = save(text))) } }
  row.took.sms = took(() => void measureTexts({ en: unlike(text) }))
  if (verdict !== 'accepted') return { ...row, verdict }
  const stored = cleanRichText(text).html
  let template = prepare(stored)
  row.took.compile = took(() => void (template = prepare(stored)))
  const context = { ...sampleContext(), tracking: { links: template.links, pixel: 'https://example.com/t/o/1' } }
  row.took.render = took(() => void (verdict = attempt(() => personalise(template, context))))
  const asked = { mode: 'mjml', language: 'en', type: 'campaign', values: {} } as const
  row.took.preview = took(() => void attempt(() => previewOf(messageOf(blocksOf(unlike(stored))), asked, framing)))
  return { ...row, verdict }
}

const most = (row: Row): number => Math.max(...phases.map((phase) => row.took[phase]?.least ?? 0))

const cells = (row: Row): string =>
  phases
    .map((phase) => {
      const cell = row.took[phase]
      return (cell ? `${cell.least.toFixed(1)} (${cell.first.toFixed(0)})` : '-').padStart(13)
    })
    .join('')

/** Prints the ten that take the longest, beside a plain text of the same length. */
export function benchHostileTemplates(): void {
  const sentence = 'The gates open at ten, and there is music until the sun goes down. '
  const plain = sentence.repeat(Math.floor(19_900 / sentence.length))
  // The engines start, and the compiler of the runtime has seen everything once.
  for (let done = 0; done < warmUps; done++) rowOf('plain', plain)
  const floor = rowOf('plain text of this length', plain)
  const rows = Object.entries(hostileTemplates).map(([name, text]) => rowOf(name, text))
  const worst = rows.toSorted((a, b) => most(b) - most(a)).slice(0, 10)
  const refused = rows.filter(({ took: { compile: compiled } }) => !compiled).length
  console.log(`${rows.length} hostile templates, ${refused} of them refused; ms, the first run in brackets`)
  console.log(`${''.padEnd(38)}${phases.map((phase) => phase.padStart(13)).join('')}  times plain`)
  for (const row of [floor, ...worst]) {
    const times = `${(most(row) / most(floor)).toFixed(1)} x`.padStart(11)
    console.log(`${row.name.slice(0, 36).padEnd(38)}${cells(row)}${times}  ${row.verdict.slice(0, 50)}`)
  }
  const largest = Math.max(...rows.map(most))
  const slow = rows.filter((row) => most(row) > goalMs).length
  console.log(
    `the largest    ${largest.toFixed(1)} ms; the goal is ${goalMs}: ${slow === 0 ? 'met' : `missed by ${slow}`}`,
  )
}
