import { z } from '@hono/zod-openapi'
import {
  alignments,
  type Block as DomainBlock,
  dividerStyles,
  maxBlocks,
  maxBlocksInColumn,
  maxColumns,
  maxRichTextLength,
  networks,
  type PlainBlock as DomainPlainBlock,
} from '../../domain/email/blocks/blocks.ts'
import { maxExpressionLength } from '../../domain/segments.ts'
import { Id, Translated } from '../../http/fields.ts'

const Size = (min: number, max: number) => z.int().min(min).max(max)

const Colour = z
  .string()
  .regex(/^#[0-9A-Fa-f]{6}$/, 'Use the form #rrggbb.')
  .openapi({ example: '#1d4ed8' })

const Padding = z
  .object({
    top: Size(0, 120).optional(),
    right: Size(0, 120).optional(),
    bottom: Size(0, 120).optional(),
    left: Size(0, 120).optional(),
  })
  .openapi('EmailPadding', { description: 'In pixels. A side that you leave out gets the padding of the template.' })

const boxFields = { background_color: Colour.optional(), padding: Padding.optional() }
const alignField = { align: z.enum(alignments).optional() }

const Address = z.string().trim().min(1).max(2000).openapi({
  description:
    'An http, https, mailto or tel address. Liquid can follow the host, as in `https://example.com/{{ order.number }}`. A single variable that holds an address works too: `{{ links.preferences }}`.',
  example: 'https://example.com/tickets',
})

const Text = (max: number) =>
  Translated(max).openapi({
    description: 'Text by language. May contain Liquid.',
    example: { en: 'Hello {{ customer.first_name }}', da: 'Hej {{ customer.first_name }}' },
  })

const Html = Translated(maxRichTextLength).openapi({
  description:
    'HTML by language. May contain Liquid. Scripts, event handlers and other active content are removed. Tags can be nested at most 500 deep, and the texts of a message can take at most 3,000 steps of Liquid in one language.',
  example: { en: '<p>Hello <b>{{ customer.first_name }}</b></p>' },
})

const RichText = z
  .object({
    text: Html,
    ...alignField,
    color: Colour.optional(),
    font_size: Size(10, 40).optional(),
    ...boxFields,
  })
  .openapi('EmailRichTextData')

const Heading = z
  .object({
    text: Text(500),
    level: z.union([z.literal(1), z.literal(2), z.literal(3)]).optional(),
    ...alignField,
    color: Colour.optional(),
    ...boxFields,
  })
  .openapi('EmailHeadingData')

const imageFields = {
  alt: Text(300),
  link: Address.optional(),
  width: Size(10, 600).optional().openapi({ description: 'In pixels. When absent, the image fills the width.' }),
  ...alignField,
  border_radius: Size(0, 60).optional(),
  ...boxFields,
}

const Image = z.object({
  file_id: Id('fil').optional().openapi({
    description: 'The file of the organisation that holds the image. Absent for an image from another site.',
  }),
  url: Address,
  ...imageFields,
})

const ImageInput = z
  .object({
    file_id: Id('fil').optional().openapi({
      description:
        'A file of the organisation to use as the image; you can then leave out `url`. PNG, JPEG and GIF images up to 500 kB are sent unchanged, other images as their `optimized` variant.',
    }),
    url: Address.optional().openapi({
      description:
        'Required without `file_id`. If it is the address of a file of the organisation, the response has its `file_id`.',
    }),
    ...imageFields,
  })
  .refine(({ file_id, url }) => file_id !== undefined || url !== undefined, {
    path: ['url'],
    params: { code: 'required' },
    message: 'An image needs a `file_id` or a `url`.',
  })
  .transform(({ url = '', ...others }) => ({ ...others, url }))

const Button = z
  .object({
    text: Text(200),
    url: Address,
    ...alignField,
    color: Colour.optional().openapi({ description: 'Colour of the text.' }),
    button_color: Colour.optional(),
    border_radius: Size(0, 60).optional(),
    is_full_width: z.boolean().optional(),
    ...boxFields,
  })
  .openapi('EmailButtonData')

const Divider = z
  .object({
    color: Colour.optional(),
    thickness: Size(1, 20).optional(),
    style: z.enum(dividerStyles).optional(),
    width: Size(5, 100).optional().openapi({ description: 'In percent.' }),
    ...boxFields,
  })
  .openapi('EmailDividerData')

const Spacer = z.object({ height: Size(1, 200).optional(), ...boxFields }).openapi('EmailSpacerData')

const Social = z
  .object({
    links: z
      .array(z.object({ network: z.enum(networks), url: Address }))
      .min(1)
      .max(12),
    ...alignField,
    ...boxFields,
  })
  .openapi('EmailSocialData')

const OrderSummary = z
  .object({
    title: Text(300).optional(),
    show_prices: z.boolean().optional(),
    show_totals: z.boolean().optional(),
    ...boxFields,
  })
  .openapi('EmailOrderSummaryData')

const Footer = z
  .object({
    text: Html,
    show_sender: z.boolean().optional(),
    show_unsubscribe: z.boolean().optional(),
    ...boxFields,
  })
  .openapi('EmailFooterData')

const BlockId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'Use 1 to 64 letters, digits, underscores and hyphens.')
  .openapi({ example: 'blk_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' })

const Condition = z
  .string()
  .min(1)
  .max(maxExpressionLength)
  .openapi('EmailBlockCondition', {
    description:
      'An expression in CEL, as in segments. Only customers for whom it holds when the campaign starts see the block; the others get the message without it. Messages of type `campaign` can have at most 8 different conditions. In a message of an edition they are about the customers of this edition.',
    example: 'stats.order_count >= 2',
  })
  .optional()

/** Requests may leave out ids of blocks and addresses of images that responses always have. */
function buildBlockSchema<
  BlockIdSchema extends z.ZodType<string | undefined>,
  ImageSchema extends typeof Image | typeof ImageInput,
>(id: BlockIdSchema, ImageData: ImageSchema, suffix: 'Block' | 'BlockInput') {
  const plainBlocks = [
    z
      .object({ id, type: z.literal('rich_text'), condition: Condition, data: RichText })
      .openapi(`EmailRichText${suffix}`),
    z.object({ id, type: z.literal('heading'), condition: Condition, data: Heading }).openapi(`EmailHeading${suffix}`),
    z.object({ id, type: z.literal('image'), condition: Condition, data: ImageData }).openapi(`EmailImage${suffix}`),
    z.object({ id, type: z.literal('button'), condition: Condition, data: Button }).openapi(`EmailButton${suffix}`),
    z.object({ id, type: z.literal('divider'), condition: Condition, data: Divider }).openapi(`EmailDivider${suffix}`),
    z.object({ id, type: z.literal('spacer'), condition: Condition, data: Spacer }).openapi(`EmailSpacer${suffix}`),
    z.object({ id, type: z.literal('social'), condition: Condition, data: Social }).openapi(`EmailSocial${suffix}`),
  ] as const
  const Column = z.object({
    width: Size(5, 95)
      .optional()
      .openapi({ description: 'In percent. Columns without a width share the remaining width.' }),
    blocks: z.array(z.discriminatedUnion('type', plainBlocks)).max(maxBlocksInColumn),
  })
  const Columns = z.object({
    columns: z
      .array(Column)
      .min(2)
      .max(maxColumns)
      .refine((columns) => columns.reduce((sum, { width = 0 }) => sum + width, 0) <= 100, {
        params: { code: 'too_wide' },
        message: 'The widths of the columns must add up to 100 percent at most.',
      }),
    ...boxFields,
  })
  return z
    .discriminatedUnion('type', [
      ...plainBlocks,
      z
        .object({ id, type: z.literal('columns'), condition: Condition, data: Columns })
        .openapi(`EmailColumns${suffix}`),
      z.object({ id, type: z.literal('order_summary'), data: OrderSummary }).openapi(`EmailOrderSummary${suffix}`),
      z.object({ id, type: z.literal('footer'), data: Footer }).openapi(`EmailFooter${suffix}`),
    ])
    .openapi(`Email${suffix}`)
}

const Block = buildBlockSchema(BlockId, Image, 'Block')
const BlockInput = buildBlockSchema(BlockId.optional(), ImageInput, 'BlockInput')

export const Blocks = z.array(Block)
export const BlocksInput = z.array(BlockInput).max(maxBlocks).openapi({
  description:
    'The whole content in order. A block without an `id` gets one. Allowed Liquid tags: if, unless, case, for, assign, capture, comment and raw.',
})

export type BlocksIn = z.output<typeof BlocksInput>

// Blocks are declared here and in the domain. These two types only compile while both declarations agree.
type Fits<One extends Other, Other> = One
/** @public No file imports it. */
export type CheckedBlock = Fits<z.output<typeof Block>, DomainBlock>
/** @public No file imports it. */
export type CheckedPlainBlock = Fits<DomainPlainBlock, z.output<typeof Block>>
