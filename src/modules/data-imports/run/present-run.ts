import type { z } from '@hono/zod-openapi'
import { formatFullName } from '../../../domain/accounts/users.ts'
import { describePlace } from '../../../domain/data-imports/files/report.ts'
import { toMajor } from '../../../domain/money.ts'
import { getAction } from '../preview/preview.ts'
import type { PreviewedOrder } from '../preview/previewed-order.ts'
import { presentValues } from '../reports/present-values.ts'
import { type ListedRow, addColumnNames, toProblems } from '../reports/rows.ts'
import type { ImportedRow, PreviewOrder } from './run-contract.ts'

export function presentImportRow(row: ListedRow): z.input<typeof ImportedRow> {
  const {
    row_number,
    file_line,
    outcome,
    order_id,
    user_id,
    data,
    errors,
    warnings,
    headers,
    format,
    undo_outcome,
    undo_reason,
  } = row
  return {
    id: String(row_number),
    row_number,
    row: file_line,
    place: format && describePlace(format, file_line),
    outcome,
    order_id,
    user_id,
    undo_outcome,
    undo_reason,
    values: presentValues(data.values),
    errors: addColumnNames(toProblems(errors, file_line), headers),
    warnings: addColumnNames(toProblems(warnings, file_line), headers),
  }
}

const presentName = (name: string | null) => (name === null ? null : { name })

export function presentPreviewOrder(one: PreviewedOrder): z.input<typeof PreviewOrder> {
  const { plannedOrder, headers, customer_id, amount_minor, changes } = one
  const { fileOrder, outcome, order_id, problems, warnings } = plannedOrder
  const { stagedOrder, mappedOrder, order } = fileOrder
  const customer = one.customer ?? order?.customer
  return {
    id: String(stagedOrder.number),
    row_numbers: [...fileOrder.lines],
    external_id: mappedOrder?.external_id ?? null,
    order_number: mappedOrder?.order_number ?? null,
    action: getAction(one),
    order_id: outcome === 'created' ? null : order_id,
    status: mappedOrder?.status ?? null,
    amount: amount_minor === null ? null : toMajor(amount_minor),
    currency: mappedOrder?.currency ?? null,
    customer: customer
      ? {
          id: customer_id,
          is_new: outcome === 'created' && customer_id === null,
          email: customer.email,
          phone_number: customer.phone_number,
          full_name: formatFullName(customer),
        }
      : null,
    items: (order?.items ?? []).map((item) => ({
      product: { name: item.product },
      variant: presentName(item.variant),
      location: presentName(item.location),
      options: [...item.options],
      quantity: item.quantity,
      unit_price: toMajor(item.price_minor),
      status: item.status,
      row: mappedOrder?.items[item.position]?.line ?? 0,
    })),
    changes: [...changes],
    errors: addColumnNames(problems, headers),
    warnings: addColumnNames(warnings, headers),
  }
}
