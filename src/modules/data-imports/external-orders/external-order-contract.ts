import { z } from '@hono/zod-openapi'
import { maxConsentKeyLength } from '../../../domain/consents/consents.ts'
import { splitLine } from '../../../domain/data-imports/imported-amounts.ts'
import type { FieldError } from '../../../domain/errors.ts'
import { currencies } from '../../../domain/money.ts'
import {
  type ExternalItem,
  type ExternalOrder,
  itemStatuses,
  maxCodeLength,
  maxExternalIdLength,
  maxGoodNameLength,
  maxItemsPerOrder,
  maxOptionsPerItem,
  maxOrderNumberLength,
  maxProviderReferenceLength,
  maxUnitsPerItem,
  maxUnitsPerOrder,
} from '../../../domain/orders/external-orders.ts'
import { orderStatuses, transactionServices } from '../../../domain/orders/orders.ts'
import { maxUses } from '../../../domain/orders/purchases.ts'
import { cleanKey } from '../../../domain/text/invisible.ts'
import { AmountInput, AnyCase, Code, Instant, InstantOrNull, JsonObject, RequiredText } from '../../../http/fields.ts'
import {
  listUnsupported,
  Locale,
  maxPhoneText,
  mergeNames,
  nameFields,
  OptionalEmail,
  pickLanguage,
} from '../../../http/imported-people.ts'
import { findUnknownFields } from '../../../http/requests/unknown-fields.ts'
import { listFieldErrors } from '../../../http/requests/validation.ts'

const OrderAmount = AmountInput().openapi({ example: 225 })

const Name = RequiredText(maxGoodNameLength)

const Holder = z.object({ email: OptionalEmail.nullish(), ...nameFields }).openapi({
  description:
    'The holder of the units, if it is not the customer. Found or created by the e-mail address; without one, the ' +
    'customer holds the units. An update without `user` does not change the holders.',
})

const Customer = z
  .object({
    email: OptionalEmail.nullish(),
    phone_number: z
      .string()
      .max(maxPhoneText)
      .nullish()
      .openapi({
        description:
          'With an e-mail address, a text that is not a phone number does not refuse the order: it is imported without ' +
          'it, with the warning `phone_not_taken`.',
        example: '+45 32 12 34 56',
      }),
    ...nameFields,
    locale: Locale.nullish(),
    metadata: JsonObject.optional(),
  })
  .refine((customer) => customer.email || cleanKey(customer.phone_number ?? ''), {
    params: { code: 'contact_required' },
    message: 'Give an e-mail address or a phone number.',
  })

const itemShape = z.object({
  product: Name.openapi({ example: 'Day ticket' }),
  variant: Name.nullish(),
  location: Name.nullish(),
  options: z.array(Name).max(maxOptionsPerItem).optional(),
  quantity: z.int().min(1).max(maxUnitsPerItem).openapi({ example: 2 }),
  unit_price: OrderAmount.optional().openapi({ description: 'Price of one unit. Give this or `line_total`.' }),
  line_total: OrderAmount.optional().openapi({
    description:
      'Price of all units together, without deposits and fees. It is split to the cent, and the first units cost a ' +
      'cent more if it cannot be divided.',
    example: 450,
  }),
  deposit: OrderAmount.optional(),
  handling_fee: OrderAmount.optional(),
  vendor_code: Code(maxCodeLength).min(1).nullish(),
  uses_limit: z.int().min(1).max(maxUses).optional().openapi({
    default: 1,
    description: 'How often each unit can be used.',
  }),
  is_unlimited_use: z
    .boolean()
    .optional()
    .openapi({ default: false, description: 'Each unit can be used any number of times.' }),
  valid_until: InstantOrNull.optional().openapi({
    description: 'When the units expire. Null if they do not.',
  }),
  user: Holder.nullish(),
  status: z.enum(itemStatuses).optional().openapi({
    description:
      "Status of these units, if it differs from the order's. Units of a cancelled order are cancelled. A cancelled item counts in the order's amount only if it was paid: if `amount` shows it or, if `amount` fits neither way, if something was refunded. It also counts if the other items make less than zero, and in a cancelled order without other items.",
  }),
})

const Item = itemShape.superRefine(({ unit_price, line_total }, context) => {
  if ((unit_price === undefined) !== (line_total === undefined)) return
  const isMissing = unit_price === undefined
  const path = [isMissing ? 'unit_price' : 'line_total']
  const message = isMissing ? 'Give unit_price or line_total.' : 'Give unit_price or line_total, not both.'
  context.addIssue({ code: 'custom', params: { code: isMissing ? 'required' : 'not_both' }, path, message })
})

export const ExternalOrderSchema = z
  .object({
    external_id: Code(maxExternalIdLength).min(1).openapi({
      description: 'Unique in the edition and source.',
      example: 'A-1001',
    }),
    order_number: Code(maxOrderNumberLength).nullish(),
    status: z.enum(orderStatuses).optional().openapi({ default: 'completed' }),
    created: Instant.optional(),
    currency: AnyCase(currencies),
    customer: Customer,
    items: z
      .array(Item)
      .min(1)
      .max(maxItemsPerOrder)
      .refine((items) => items.reduce((units, item) => units + item.quantity, 0) <= maxUnitsPerOrder, {
        params: { code: 'max_value' },
        message: `An order has at most ${maxUnitsPerOrder} units.`,
      }),
    locale: Locale.nullish().openapi({
      description: 'Language of the customer, if `customer` has none that is supported.',
    }),
    amount: OrderAmount.optional().openapi({
      description:
        'Total in the other system. If items and fees add up to another total, that one counts and `warnings` ' +
        'shows both.',
    }),
    refunded_amount: OrderAmount.optional().openapi({
      description: 'Total refunded so far, by whatever way. It never decreases. Omit it if you do not know it.',
    }),
    payment: z
      .object({
        service: z
          .enum(transactionServices)
          .openapi({ description: 'Service that took the payment.', example: 'stripe' }),
        reference: Code(maxProviderReferenceLength)
          .nullish()
          .openapi({ description: 'Id of the payment at the service.', example: 'pi_3QW8ZtLkdIwHu7ix' }),
      })
      .nullish(),
    service_fee: OrderAmount.optional(),
    discount: OrderAmount.optional().openapi({
      description:
        'Spread over the purchases in proportion to their prices. What exceeds the prices lowers deposits, then handling fees, then the service fee.',
    }),
    coupon_code: Code(maxCodeLength).nullish(),
    consents: z.record(Code(maxConsentKeyLength), z.boolean()).optional(),
    metadata: JsonObject.optional(),
  })
  .openapi('ExternalOrder')

type ExternalOrderWire = z.output<typeof ExternalOrderSchema>

function toItems(item: ExternalOrderWire['items'][number], position: number): ExternalItem[] {
  const { quantity, unit_price, line_total, user } = item
  const parts =
    unit_price === undefined ? splitLine(line_total ?? 0, quantity) : [{ quantity, price_minor: unit_price }]
  return parts.map((part) => ({
    position,
    ...part,
    product: item.product,
    variant: item.variant ?? null,
    location: item.location ?? null,
    options: item.options ?? [],
    deposit_minor: item.deposit ?? 0,
    handling_fee_minor: item.handling_fee ?? 0,
    vendor_code: item.vendor_code ?? null,
    uses_limit: item.uses_limit ?? 1,
    is_unlimited_use: item.is_unlimited_use ?? false,
    valid_until: item.valid_until ?? null,
    holder: user ? { email: user.email ?? null, ...mergeNames(user) } : null,
    status: item.status ?? null,
  }))
}

const toExternalOrder = (wire: ExternalOrderWire): ExternalOrder => ({
  external_id: wire.external_id,
  order_number: wire.order_number || null,
  status: wire.status ?? 'completed',
  created_at: wire.created ?? null,
  currency: wire.currency,
  customer: {
    email: wire.customer.email ?? null,
    phone_number: cleanKey(wire.customer.phone_number ?? '') || null,
    ...mergeNames(wire.customer),
    locale: pickLanguage(wire.customer.locale) ?? pickLanguage(wire.locale),
    metadata: wire.customer.metadata ?? {},
  },
  items: wire.items.flatMap(toItems),
  service_fee_minor: wire.service_fee ?? 0,
  discount_minor: wire.discount ?? 0,
  coupon_code: wire.coupon_code || null,
  amount_minor: wire.amount ?? null,
  refunded_minor: wire.refunded_amount ?? null,
  payment: wire.payment ? { service: wire.payment.service, reference: wire.payment.reference || null } : null,
  consents: wire.consents ?? {},
  unsupported_locales: [
    ...listUnsupported(['customer', 'locale'], wire.customer.locale),
    ...listUnsupported(['locale'], wire.locale),
  ],
  metadata: wire.metadata ?? {},
})

/** `path` leads to the order in the body, so that errors point at their fields. */
export function parseExternalOrder(
  raw: unknown,
  path: readonly PropertyKey[],
): { order: ExternalOrder } | { errors: FieldError[] } {
  const result = ExternalOrderSchema.safeParse(raw)
  const unknownFields = findUnknownFields(ExternalOrderSchema, raw, { prefix: path })
  if (result.success && !unknownFields.length) return { order: toExternalOrder(result.data) }
  return { errors: [...(result.error ? listFieldErrors(result.error, raw, path) : []), ...unknownFields] }
}

/** Checks an order of a file. It cannot have unknown fields, because the mapping built it. */
export function checkExternalOrder(raw: unknown): { order: ExternalOrder } | { errors: FieldError[] } {
  const result = ExternalOrderSchema.safeParse(raw)
  return result.success ? { order: toExternalOrder(result.data) } : { errors: listFieldErrors(result.error, raw, []) }
}
