import type { TranslatedDict } from '../../languages.ts'

export const alignments = ['left', 'center', 'right'] as const
export const dividerStyles = ['solid', 'dashed', 'dotted'] as const
export const networks = ['facebook', 'instagram', 'x', 'linkedin', 'youtube', 'tiktok', 'spotify', 'website'] as const

type Alignment = (typeof alignments)[number]
export type Network = (typeof networks)[number]
/** A colour is written as `#rrggbb`. */
type Colour = string

export interface Padding {
  top?: number | undefined
  right?: number | undefined
  bottom?: number | undefined
  left?: number | undefined
}

interface Boxed {
  background_color?: Colour | undefined
  padding?: Padding | undefined
}

interface RichTextData extends Boxed {
  text: TranslatedDict
  align?: Alignment | undefined
  color?: Colour | undefined
  font_size?: number | undefined
}

export interface HeadingData extends Boxed {
  text: TranslatedDict
  level?: 1 | 2 | 3 | undefined
  align?: Alignment | undefined
  color?: Colour | undefined
}

export interface ImageData extends Boxed {
  /** The file of the organisation that `url` leads to. */
  file_id?: string | undefined
  url: string
  alt: TranslatedDict
  link?: string | undefined
  width?: number | undefined
  align?: Alignment | undefined
  border_radius?: number | undefined
}

export interface ButtonData extends Boxed {
  text: TranslatedDict
  url: string
  align?: Alignment | undefined
  color?: Colour | undefined
  button_color?: Colour | undefined
  border_radius?: number | undefined
  is_full_width?: boolean | undefined
}

interface DividerData extends Boxed {
  color?: Colour | undefined
  thickness?: number | undefined
  style?: (typeof dividerStyles)[number] | undefined
  width?: number | undefined
}

interface SpacerData extends Boxed {
  height?: number | undefined
}

export interface SocialData extends Boxed {
  links: { network: Network; url: string }[]
  align?: Alignment | undefined
}

export interface OrderSummaryData extends Boxed {
  title?: TranslatedDict | undefined
  show_prices?: boolean | undefined
  show_totals?: boolean | undefined
}

export interface FooterData extends Boxed {
  text: TranslatedDict
  show_sender?: boolean | undefined
  show_unsubscribe?: boolean | undefined
}

interface Typed<Type extends string, Data> {
  id: string
  type: Type
  /** An expression in CEL that holds for the customers who see the block. Without one, everyone sees it. */
  condition?: string | undefined
  data: Data
}

/** A block that may stand in a column. */
export type PlainBlock =
  | Typed<'rich_text', RichTextData>
  | Typed<'heading', HeadingData>
  | Typed<'image', ImageData>
  | Typed<'button', ButtonData>
  | Typed<'divider', DividerData>
  | Typed<'spacer', SpacerData>
  | Typed<'social', SocialData>

interface ColumnsData extends Boxed {
  columns: { width?: number | undefined; blocks: PlainBlock[] }[]
}

export type Block =
  | PlainBlock
  | Typed<'columns', ColumnsData>
  | Typed<'order_summary', OrderSummaryData>
  | Typed<'footer', FooterData>

export const maxBlocks = 100
/** The limit for a message that also counts blocks in columns. */
export const maxNestedBlocks = 400
export const maxColumns = 4
export const maxBlocksInColumn = 20
export const maxRichTextLength = 20_000
export const maxSubjectLength = 250
export const maxPreheaderLength = 200

interface PlacedBlock {
  block: Block
  path: (string | number)[]
  /** True if the block, or the columns that it stands in, have a condition. */
  is_conditional: boolean
}

/** Every block with its path in the message. The blocks of columns follow the `columns` block. */
export const listBlocks = (blocks: readonly Block[]): PlacedBlock[] =>
  blocks.flatMap((block, index) => {
    const path = ['blocks', index]
    const is_conditional = block.condition !== undefined
    if (block.type !== 'columns') return [{ block, path, is_conditional }]
    const nestedBlocks = block.data.columns.flatMap((column, columnIndex) =>
      column.blocks.map((nestedBlock, position) => ({
        block: nestedBlock as Block,
        path: [...path, 'data', 'columns', columnIndex, 'blocks', position],
        is_conditional: is_conditional || nestedBlock.condition !== undefined,
      })),
    )
    return [{ block, path, is_conditional }, ...nestedBlocks]
  })

type Kind = 'html' | 'text' | 'address'

export interface BlockField {
  name: string
  kind: Kind
  /** A string is the same in all languages. */
  value: TranslatedDict | string
}

const toFields = (name: string, kind: Kind, value: TranslatedDict | string | undefined): BlockField[] =>
  value === undefined ? [] : [{ name, kind, value }]

/** The fields of a block that may hold Liquid. */
export function listLiquidFields(block: Block): BlockField[] {
  switch (block.type) {
    case 'rich_text':
    case 'footer':
      return toFields('text', 'html', block.data.text)
    case 'heading':
      return toFields('text', 'text', block.data.text)
    case 'image':
      return [
        ...toFields('url', 'address', block.data.url),
        ...toFields('alt', 'text', block.data.alt),
        ...toFields('link', 'address', block.data.link),
      ]
    case 'button':
      return [...toFields('text', 'text', block.data.text), ...toFields('url', 'address', block.data.url)]
    case 'social':
      return block.data.links.flatMap(({ url }, index) => toFields(`links.${index}.url`, 'address', url))
    case 'order_summary':
      return toFields('title', 'text', block.data.title)
    case 'divider':
    case 'spacer':
    case 'columns':
      return []
  }
}
