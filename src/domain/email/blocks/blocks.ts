import type { TranslatedDict } from '../../languages.ts'

export const alignments = ['left', 'center', 'right'] as const
export const dividerStyles = ['solid', 'dashed', 'dotted'] as const
export const networks = ['facebook', 'instagram', 'x', 'linkedin', 'youtube', 'tiktok', 'spotify', 'website'] as const

type Alignment = (typeof alignments)[number]
export type Network = (typeof networks)[number]
/** `#rrggbb` */
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
  /** A file of the organisation; `url` is then its address. */
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
  data: Data
}

/** Blocks that are possible alone and inside columns. */
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
/** The most blocks of a message, with those in columns. */
export const maxBlocksInAll = 400
export const maxColumns = 4
export const maxBlocksInColumn = 20
export const maxRichTextLength = 20_000
export const maxSubjectLength = 250

/** Every block, those in columns after the one that holds them, with the way to it from the message. */
export const allBlocks = (blocks: readonly Block[]): { block: Block; path: (string | number)[] }[] =>
  blocks.flatMap((block, index) => {
    const path = ['blocks', index]
    if (block.type !== 'columns') return [{ block, path }]
    const inner = block.data.columns.flatMap((column, at) =>
      column.blocks.map((one, position) => ({
        block: one as Block,
        path: [...path, 'data', 'columns', at, 'blocks', position],
      })),
    )
    return [{ block, path }, ...inner]
  })

/** The kind of a field: HTML, text, or an address. */
type Kind = 'html' | 'text' | 'address'

export interface BlockField {
  name: string
  kind: Kind
  /** By language, or the one value for all languages. */
  value: TranslatedDict | string
}

const field = (name: string, kind: Kind, value: TranslatedDict | string | undefined): BlockField[] =>
  value === undefined ? [] : [{ name, kind, value }]

/** The fields of a block that may hold Liquid. */
export function fieldsOf(block: Block): BlockField[] {
  switch (block.type) {
    case 'rich_text':
    case 'footer':
      return field('text', 'html', block.data.text)
    case 'heading':
      return field('text', 'text', block.data.text)
    case 'image':
      return [
        ...field('url', 'address', block.data.url),
        ...field('alt', 'text', block.data.alt),
        ...field('link', 'address', block.data.link),
      ]
    case 'button':
      return [...field('text', 'text', block.data.text), ...field('url', 'address', block.data.url)]
    case 'social':
      return block.data.links.flatMap(({ url }, index) => field(`links.${index}.url`, 'address', url))
    case 'order_summary':
      return field('title', 'text', block.data.title)
    case 'divider':
    case 'spacer':
    case 'columns':
      return []
  }
}
