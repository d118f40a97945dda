import { z } from '@hono/zod-openapi'
import type { FieldError } from '../../domain/errors.ts'
import {
  type ExternalOrder,
  maxCodeLength,
  maxExternalIdLength,
  maxGoodNameLength,
  maxItemsPerOrder,
  maxOptionsPerItem,
  maxOrderNumberLength,
  maxUnitsPerItem,
  maxUnitsPerOrder,
} from '../../domain/external-orders.ts'
import { languageOf } from '../../domain/languages.ts'
import { currencies, maxAmountMinor, toMajor, toMinor } from '../../domain/money.ts'
import { orderStatuses } from '../../domain/orders.ts'
import { maxUses } from '../../domain/purchases.ts'
import { maxEmailLength, maxPhoneLength, normalizeEmail } from '../../domain/users.ts'
import { Instant, InstantOrNull, JsonObject, PersonName, RequiredText } from '../../http/fields.ts'
import { unknownFields } from '../../http/unknown-fields.ts'
import { fieldErrors } from '../../http/validation.ts'

/** An amount in major units in, minor units out. */
const Amount = z
  .number()
  .min(0)
  .max(toMajor(maxAmountMinor))
  .transform((major, context) => {
    const minor = toMinor(major)
    if (minor !== null) return minor
    context.addIssue({ code: 'custom', params: { code: 'max_decimal_places' }, message: 'At most 2 decimals.' })
    return z.NEVER
  })
  .openapi({ example: 225 })

const Name = RequiredText(maxGoodNameLength)

const OptionalEmail = z
  .string()
  .max(maxEmailLength)
  .transform((text, context) => {
    if (text.trim() === '') return null
    const email = normalizeEmail(text)
    if (email !== null) return email
    context.addIssue({ code: 'custom', params: { code: 'invalid_email' }, message: 'This is not an e-mail address.' })
    return z.NEVER
  })
  .openapi({ format: 'email', example: 'aegir@example.dk' })

const Locale = z
  .string()
  .max(35)
  .transform((tag, context) => {
    const language = languageOf(tag)
    if (language !== null) return language
    context.addIssue({ code: 'custom', params: { code: 'invalid_choice' }, message: 'One of en, da, se, nl, pl.' })
    return z.NEVER
  })
  .openapi({ example: 'da' })

const OptionalName = PersonName.nullish()

const Customer = z
  .object({
    email: OptionalEmail.nullish(),
    phone_number: z.string().max(maxPhoneLength).nullish().openapi({ example: '+45 32 12 34 56' }),
    first_name: OptionalName,
    last_name: OptionalName,
    locale: Locale.nullish(),
    metadata: JsonObject.optional(),
  })
  .refine((customer) => customer.email || customer.phone_number?.trim(), {
    params: { code: 'contact_required' },
    message: 'An e-mail address or a telephone number.',
  })

const Item = z.object({
  product: Name.openapi({ example: 'Day ticket' }),
  variant: Name.nullish(),
  location: Name.nullish(),
  options: z.array(Name).max(maxOptionsPerItem).optional(),
  quantity: z.int().min(1).max(maxUnitsPerItem).openapi({ example: 2 }),
  unit_price: Amount,
  deposit: Amount.optional(),
  handling_fee: Amount.optional(),
  vendor_code: z.string().trim().min(1).max(maxCodeLength).nullish(),
  uses_limit: z.int().min(1).max(maxUses).optional().openapi({
    default: 1,
    description: 'How often each unit can be used.',
  }),
  is_unlimited_use: z.boolean().optional().openapi({ default: false, description: 'Used as often as anyone likes.' }),
  valid_until: InstantOrNull.optional().openapi({
    description: 'From then on each unit is no longer valid; null for one that does not end by itself.',
  }),
})

export const ExternalOrderSchema = z
  .object({
    external_id: RequiredText(maxExternalIdLength).openapi({
      description: 'Unique in the edition and source.',
      example: 'A-1001',
    }),
    order_number: z.string().trim().max(maxOrderNumberLength).nullish(),
    status: z.enum(orderStatuses).optional().openapi({ default: 'completed' }),
    created: Instant.optional(),
    currency: z.enum(currencies),
    customer: Customer,
    items: z
      .array(Item)
      .min(1)
      .max(maxItemsPerOrder)
      .refine((items) => items.reduce((units, item) => units + item.quantity, 0) <= maxUnitsPerOrder, {
        params: { code: 'max_value' },
        message: `At most ${maxUnitsPerOrder} units in one order.`,
      }),
    service_fee: Amount.optional(),
    discount: Amount.optional(),
    coupon_code: z.string().trim().max(maxCodeLength).nullish(),
    consents: z.record(z.string().max(64), z.boolean()).optional(),
    metadata: JsonObject.optional(),
  })
  .openapi('ExternalOrder')

type Wire = z.output<typeof ExternalOrderSchema>

const toDomain = (wire: Wire): ExternalOrder => ({
  external_id: wire.external_id,
  order_number: wire.order_number || null,
  status: wire.status ?? 'completed',
  created_at: wire.created ?? null,
  currency: wire.currency,
  customer: {
    email: wire.customer.email ?? null,
    phone_number: wire.customer.phone_number?.trim() || null,
    first_name: wire.customer.first_name ?? '',
    last_name: wire.customer.last_name ?? '',
    locale: wire.customer.locale ?? null,
    metadata: wire.customer.metadata ?? {},
  },
  items: wire.items.map((item) => ({
    product: item.product,
    variant: item.variant ?? null,
    location: item.location ?? null,
    options: item.options ?? [],
    quantity: item.quantity,
    price_minor: item.unit_price,
    deposit_minor: item.deposit ?? 0,
    handling_fee_minor: item.handling_fee ?? 0,
    vendor_code: item.vendor_code ?? null,
    uses_limit: item.uses_limit ?? 1,
    is_unlimited_use: item.is_unlimited_use ? 1 : 0,
    valid_until: item.valid_until ?? null,
  })),
  service_fee_minor: wire.service_fee ?? 0,
  discount_minor: wire.discount ?? 0,
  coupon_code: wire.coupon_code || null,
  consents: wire.consents ?? {},
  metadata: wire.metadata ?? {},
})

/** One order of a call; `path` leads to it in the body, so that its errors point at their fields. */
export function parseExternalOrder(
  raw: unknown,
  path: readonly PropertyKey[],
): { order: ExternalOrder } | { errors: FieldError[] } {
  const result = ExternalOrderSchema.safeParse(raw)
  const unknown = unknownFields(ExternalOrderSchema, raw, { prefix: path })
  if (result.success && !unknown.length) return { order: toDomain(result.data) }
  return { errors: [...(result.error ? fieldErrors(result.error, raw, path) : []), ...unknown] }
}
