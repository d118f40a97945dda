import type { Schema } from '../../api'
import { isMissing, type Texts } from '../../parts/content-languages'
import type { LanguageCode } from '../../parts/names'

export type BlockType = Schema['EmailBlockInput']['type']

/** A block as the editor holds it. The forms of `block-fields.ts` know the data of each type. */
export interface Block {
  id: string
  type: BlockType
  condition?: string | undefined
  data: Record<string, unknown>
}

export interface Column {
  width?: number | undefined
  blocks: readonly Block[]
}

/** The part of a message that the editor changes. */
export interface Draft extends Record<string, unknown> {
  title: string
  type: Schema['EmailMessageList']['type']
  subject: Texts
  preheader: Texts
  blocks: readonly Block[]
}

export const readDraft = (message: Schema['EmailMessageDetail']): Draft => ({
  title: message.title,
  type: message.type,
  subject: message.subject_translations,
  preheader: message.preheader,
  blocks: message.blocks,
})

const newId = (): string => `blk_${crypto.randomUUID()}`

const emptyData: Record<BlockType, () => Record<string, unknown>> = {
  rich_text: () => ({ text: {} }),
  heading: () => ({ text: {}, level: 1 }),
  image: () => ({ url: '', alt: {} }),
  button: () => ({ text: {}, url: '' }),
  divider: () => ({}),
  spacer: () => ({ height: 24 }),
  columns: () => ({ columns: [{ blocks: [] }, { blocks: [] }] }),
  order_summary: () => ({}),
  social: () => ({ links: [{ network: 'website', url: '' }] }),
  footer: () => ({ text: {}, show_sender: true, show_unsubscribe: true }),
}

export const blockTypes = Object.keys(emptyData) as BlockType[]
/** Blocks that can stand in a column. */
export const columnBlockTypes = blockTypes.filter((type) => !['columns', 'order_summary', 'footer'].includes(type))

export const createBlock = (type: BlockType): Block => ({ id: newId(), type, data: emptyData[type]() })

export const readColumns = (block: Block): readonly Column[] =>
  block.type === 'columns' ? (block.data['columns'] as readonly Column[]) : []

/** Copies a block. The blocks of its columns are copies too. */
export const copyBlock = (block: Block): Block => ({
  ...block,
  id: newId(),
  data:
    block.type === 'columns'
      ? {
          ...block.data,
          columns: readColumns(block).map((column) => ({ ...column, blocks: column.blocks.map(copyBlock) })),
        }
      : structuredClone(block.data),
})

export function moveItem<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const others = items.toSpliced(from, 1)
  return others.toSpliced(to, 0, ...items.slice(from, from + 1))
}

/** Leaves out what is empty, because the API wants such fields to be absent. An image of a file gets its URL there. */
function cleanData(type: BlockType, data: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(data).filter(([, value]) => value !== undefined && value !== '')
  const cleaned = Object.fromEntries(entries)
  return type === 'image' && cleaned['file_id'] !== undefined ? { ...cleaned, url: undefined } : cleaned
}

/** The blocks as the API takes them. */
export const writeBlocks = (blocks: readonly Block[]): Schema['EmailBlockInput'][] =>
  blocks.map(({ condition, data, ...block }) => ({
    ...block,
    ...(condition && { condition }),
    data:
      block.type === 'columns'
        ? {
            ...cleanData(block.type, data),
            columns: readColumns({ ...block, data }).map((column) => ({
              ...column,
              blocks: writeBlocks(column.blocks),
            })),
          }
        : cleanData(block.type, data),
  })) as Schema['EmailBlockInput'][]

const textKeys: Partial<Record<BlockType, string>> = {
  rich_text: 'text',
  heading: 'text',
  image: 'alt',
  button: 'text',
  order_summary: 'title',
  footer: 'text',
}

/** The texts of a block for customers, with those in its columns. */
export function listBlockTexts(block: Block): Texts[] {
  const key = textKeys[block.type]
  const texts = key === undefined ? undefined : (block.data[key] as Texts | undefined)
  return [...(texts ? [texts] : []), ...readColumns(block).flatMap(({ blocks }) => blocks.flatMap(listBlockTexts))]
}

/** The texts of the message for customers. */
export const listTexts = ({ subject, preheader, blocks }: Draft): Texts[] => [
  subject,
  preheader,
  ...blocks.flatMap(listBlockTexts),
]

/** Counts the texts that are written in other languages and not in this one. */
export const countMissing = (texts: readonly Texts[], language: LanguageCode): number =>
  texts.filter((one) => isMissing(one, language)).length

const maxSummaryLength = 400

/** The beginning of a block's text without its tags. */
export function summarise(block: Block, language: LanguageCode): string {
  const texts = listBlockTexts(block)[0] ?? {}
  const text = texts[language] ?? Object.values(texts)[0] ?? ''
  const page = new DOMParser().parseFromString(text.slice(0, maxSummaryLength).replaceAll('</', ' </'), 'text/html')
  return (page.body.textContent ?? '').replace(/\s+/g, ' ').trim()
}

export const listConditions = (blocks: readonly Block[]): string[] => [
  ...new Set(
    blocks.flatMap((block) => [
      ...(block.condition ? [block.condition] : []),
      ...readColumns(block).flatMap((column) => listConditions(column.blocks)),
    ]),
  ),
]

/** True if one of the faults lies at the path or inside. */
export const hasFault = (faults: Readonly<Record<string, unknown>>, path: string): boolean =>
  Object.keys(faults).some((key) => key === path || key.startsWith(`${path}.`))
