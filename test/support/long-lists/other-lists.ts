import { roleCodes } from '../../../src/domain/accounts/access.ts'
import { engagements, failReasons, recipientStates, skipReasons } from '../../../src/domain/campaigns/sending-policy.ts'
import { filePurposes } from '../../../src/domain/files/files.ts'
import { buildSortKey } from '../../../src/domain/text/fold.ts'
import { deliveryStatuses, eventKindNames } from '../../../src/domain/webhooks/webhooks.ts'
import { containsText, createdRange, flag, matchExactly, matchOneOf } from './filters.ts'
import type { LongList, Parent, Row, SeenRow } from './model.ts'

const created = { by: ({ shown }: SeenRow) => Date.parse(shown.created) }
const modified = { by: ({ shown }: SeenRow) => Date.parse(shown.modified) }

export const auditList = (rows: readonly Row[]): LongList => ({
  id: 'listAuditLog',
  path: () => '/v1/audit-log',
  roles: ['OA'],
  requires: ['organization_id'],
  scopes: ['organization_id'],
  defaultOrdering: '-created',
  orderings: { created },
  filters: {
    actor_id: matchExactly(({ shown }) => shown.actor.id, 'usr_nobody'),
    action: matchExactly(({ shown }) => shown.action, 'deleteEverything'),
    resource_type: matchExactly(({ shown }) => shown.resource_type, 'nothing'),
    resource_id: matchExactly(({ shown }) => shown.resource_id, 'org_none'),
    ...createdRange,
  },
  rows: () => rows,
  seen: ({ shown }) => ({ action: shown.action, resource_id: shown.resource_id }),
})

export const filesList = (rows: readonly Row[]): LongList => ({
  id: 'listFiles',
  path: () => '/v1/files',
  roles: roleCodes,
  scopes: ['organization_id', 'edition_id'],
  defaultOrdering: '-created',
  orderings: {
    created,
    modified,
    name: { by: ({ shown }) => buildSortKey(shown.name) },
    size: { by: ({ shown }) => shown.size },
  },
  filters: {
    purpose: matchOneOf(filePurposes, ({ shown }) => shown.purpose),
    mime_type: matchExactly(({ shown }) => shown.mime_type, 'image/none'),
    is_used: flag(({ shown }) => shown.is_used),
    search: {
      isText: true,
      values: ({ shown }) => [shown.name, shown.title],
      others: ['nothing'],
      matches: ({ shown }, value) => containsText([shown.name, shown.title], value),
    },
  },
  rows: () => rows,
  seen: ({ shown }) => ({ name: shown.name, size: shown.size, is_used: shown.is_used }),
})

/** The rows of one resource. */
export interface RowsOfParent {
  parent: Parent
  rows: readonly Row[]
}

const findRows =
  (all: readonly RowsOfParent[]) =>
  (parent: Parent | null): readonly Row[] =>
    all.find((one) => one.parent.id === parent?.id)?.rows ?? []

const deliveryFilters = {
  status: matchOneOf(deliveryStatuses, ({ shown }) => shown.status),
  event: matchOneOf(eventKindNames, ({ shown }) => shown.event),
  response_status_code: matchOneOf(['200', '500', '404'], ({ shown: { response_status_code: code } }) =>
    code === null ? null : String(code),
  ),
  resource_id: matchExactly(({ shown }) => shown.resource, 'ord_none'),
  ...createdRange,
}

export const organizationDeliveriesList = (rows: readonly Row[]): LongList => ({
  id: 'listOrganizationWebhookDeliveries',
  path: () => '/v1/webhooks/deliveries',
  roles: ['OA', 'OM', 'EA', 'EM'],
  requires: ['organization_id'],
  scopes: ['organization_id'],
  defaultOrdering: '-created',
  orderings: { created, modified, name: { by: ({ shown }) => shown.event } },
  filters: {
    ...deliveryFilters,
    endpoint_id: matchExactly(({ shown }) => shown.endpoint_id, 'whk_none'),
    edition_id: matchExactly(({ shown }) => shown.edition, 'edt_none'),
  },
  rows: () => rows,
  seen: ({ shown }) => ({ status: shown.status, event: shown.event, endpoint_id: shown.endpoint_id }),
})

export const eventsList = (rows: readonly Row[]): LongList => ({
  id: 'listWebhookEvents',
  path: () => '/v1/webhooks/events',
  roles: ['OA', 'EA'],
  requires: ['organization_id'],
  scopes: ['organization_id', 'edition_id'],
  defaultOrdering: 'cursor',
  orderings: { cursor: { by: ({ shown }) => Number(shown.cursor.split(':')[1]) } },
  filters: {
    kind: matchOneOf(eventKindNames, ({ shown }) => shown.kind),
    resource_id: matchExactly(({ shown }) => shown.resource, 'ord_none'),
    ...createdRange,
  },
  rows: () => rows,
  seen: ({ shown }) => ({ kind: shown.kind, cursor: shown.cursor, payload: shown.payload }),
})

export const deliveriesList = (all: readonly RowsOfParent[]): LongList => ({
  id: 'listWebhookDeliveries',
  path: (parent) => `/v1/webhooks/${parent?.id}/deliveries`,
  parents: all.map(({ parent }) => parent),
  roles: ['OA', 'OM', 'EA', 'EM'],
  scopes: ['organization_id', 'edition_id'],
  defaultOrdering: '-created',
  orderings: { created, modified, name: { by: ({ shown }) => shown.event } },
  filters: {
    ...deliveryFilters,
    is_active: flag(() => true),
  },
  rows: findRows(all),
  seen: ({ shown }) => ({ status: shown.status, event: shown.event }),
})

export const importRowsList = (all: readonly RowsOfParent[]): LongList => ({
  id: 'listImportRows',
  path: (parent) => `/v1/data-imports/${parent?.id}/rows`,
  parents: all.map(({ parent }) => parent),
  roles: ['OA', 'OM', 'EA', 'EM'],
  scopes: [],
  defaultOrdering: 'row_number',
  orderings: { row_number: { by: ({ shown }) => shown.row_number } },
  filters: {
    outcome: matchOneOf(
      ['created', 'updated', 'skipped', 'ignored', 'error', 'cancelled'],
      ({ shown }) => shown.outcome,
    ),
    has_errors: flag(({ shown }) => shown.errors.length > 0),
    order_id: matchExactly(({ shown }) => shown.order_id, 'ord_none'),
  },
  rows: findRows(all),
  seen: ({ shown }) => ({ outcome: shown.outcome, order_id: shown.order_id }),
})

const happened: Record<(typeof engagements)[number], (shown: SeenRow['shown']) => boolean> = {
  delivered: (shown) => shown.delivered_at !== null,
  opened: (shown) => shown.opened_at !== null,
  not_opened: (shown) => shown.state === 'sent' && shown.opened_at === null && shown.bounced_at === null,
  clicked: (shown) => shown.clicked_at !== null,
  not_clicked: (shown) => shown.state === 'sent' && shown.clicked_at === null && shown.bounced_at === null,
  bounced: (shown) => shown.bounced_at !== null,
  complained: (shown) => shown.complained_at !== null,
  unsubscribed: (shown) => shown.unsubscribed_at !== null,
}

export const recipientsList = (all: readonly RowsOfParent[]): LongList => ({
  id: 'listCampaignRecipients',
  path: (parent) => `/v1/campaigns/${parent?.id}/recipients`,
  parents: all.map(({ parent }) => parent),
  roles: ['OA', 'OM', 'EA', 'EM'],
  scopes: [],
  defaultOrdering: null,
  orderings: {
    address: { by: ({ shown }) => shown.address || null, roles: 'organization' },
    sent_at: { by: ({ shown }) => (shown.sent_at === null ? null : Date.parse(shown.sent_at)) },
  },
  filters: {
    search: matchExactly(({ shown }) => shown.id, 'usr_none'),
    state: matchOneOf(recipientStates, ({ shown }) => shown.state),
    reason: matchOneOf([...skipReasons, ...failReasons], ({ shown }) => shown.reason),
    engagement: {
      values: ({ shown }) => engagements.filter((engagement) => happened[engagement](shown)),
      others: engagements,
      matches: ({ shown }, value) => happened[value as keyof typeof happened](shown),
    },
  },
  rows: findRows(all),
  // A role of an edition sees the address that its edition knows, and no edition knows these recipients.
  seen: ({ shown }) => ({ id: shown.id, state: shown.state }),
})
