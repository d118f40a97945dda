import {
  IconAlignLeft,
  IconColumns2,
  IconHeading,
  IconHandClick,
  IconPhoto,
  IconReceipt,
  IconSeparatorHorizontal,
  IconShare,
  IconSpacingVertical,
  IconLayoutBottombar,
  type TablerIcon,
} from '@tabler/icons-react'
import type { Words } from '../../words/en'
import type { BlockType } from './blocks'

type Label = keyof Words['emailMessages']['fields']

/** A field of a block's data. `look` puts it among those of the appearance. */
export type Field = ContentField | LookField

interface Named {
  key: string
  label: Label
  isLook?: boolean
}

type ContentField = Named & {
  kind: 'line' | 'html' | 'address' | 'image' | 'links' | 'columns' | 'padding'
  isRequired?: boolean
}

/** A field with one value. */
export type LookField = Named &
  (
    | { kind: 'colour' }
    | { kind: 'switch'; isOnByDefault: boolean }
    | { kind: 'size'; min: number; max: number; unit: 'px' | '%' }
    | { kind: 'choice'; options: readonly (string | number)[] }
  )

const look = { isLook: true } as const
const align: Field = { key: 'align', label: 'align', kind: 'choice', options: ['left', 'center', 'right'], ...look }
const colour = (key: string, label: Label): Field => ({ key, label, kind: 'colour', ...look })
const size = (key: string, label: Label, [min, max]: [number, number], unit: 'px' | '%' = 'px'): Field => ({
  key,
  label,
  kind: 'size',
  min,
  max,
  unit,
  ...look,
})
const box: readonly Field[] = [
  colour('background_color', 'background'),
  { key: 'padding', label: 'padding', kind: 'padding', ...look },
]
const radius = size('border_radius', 'radius', [0, 60])

/** The fields of each type of block, in the order of its form. */
export const blockFields: Record<BlockType, readonly Field[]> = {
  rich_text: [
    { key: 'text', label: 'text', kind: 'html' },
    align,
    colour('color', 'colour'),
    size('font_size', 'fontSize', [10, 40]),
    ...box,
  ],
  heading: [
    { key: 'text', label: 'text', kind: 'line' },
    { key: 'level', label: 'level', kind: 'choice', options: [1, 2, 3] },
    align,
    colour('color', 'colour'),
    ...box,
  ],
  image: [
    { key: 'file_id', label: 'image', kind: 'image' },
    { key: 'alt', label: 'alt', kind: 'line' },
    { key: 'link', label: 'link', kind: 'address' },
    size('width', 'width', [10, 600]),
    align,
    radius,
    ...box,
  ],
  button: [
    { key: 'text', label: 'text', kind: 'line' },
    { key: 'url', label: 'link', kind: 'address', isRequired: true },
    align,
    colour('button_color', 'buttonColour'),
    colour('color', 'colour'),
    radius,
    { key: 'is_full_width', label: 'fullWidth', kind: 'switch', isOnByDefault: false, ...look },
    ...box,
  ],
  divider: [
    { key: 'style', label: 'style', kind: 'choice', options: ['solid', 'dashed', 'dotted'] },
    size('thickness', 'thickness', [1, 20]),
    size('width', 'width', [5, 100], '%'),
    colour('color', 'colour'),
    ...box,
  ],
  spacer: [{ ...size('height', 'height', [1, 200]), isLook: false }, ...box],
  columns: [{ key: 'columns', label: 'columns', kind: 'columns' }, ...box],
  order_summary: [
    { key: 'title', label: 'title', kind: 'line' },
    { key: 'show_prices', label: 'showPrices', kind: 'switch', isOnByDefault: true },
    { key: 'show_totals', label: 'showTotals', kind: 'switch', isOnByDefault: true },
    ...box,
  ],
  social: [{ key: 'links', label: 'links', kind: 'links' }, align, ...box],
  footer: [
    { key: 'text', label: 'text', kind: 'html' },
    { key: 'show_sender', label: 'showSender', kind: 'switch', isOnByDefault: true },
    { key: 'show_unsubscribe', label: 'showUnsubscribe', kind: 'switch', isOnByDefault: true },
    ...box,
  ],
}

export const networks = ['website', 'facebook', 'instagram', 'x', 'linkedin', 'youtube', 'tiktok', 'spotify'] as const

export const blockIcons: Record<BlockType, TablerIcon> = {
  rich_text: IconAlignLeft,
  heading: IconHeading,
  image: IconPhoto,
  button: IconHandClick,
  divider: IconSeparatorHorizontal,
  spacer: IconSpacingVertical,
  columns: IconColumns2,
  order_summary: IconReceipt,
  social: IconShare,
  footer: IconLayoutBottombar,
}
