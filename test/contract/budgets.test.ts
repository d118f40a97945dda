import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import { type Cost, costOf } from '../support/cost.ts'
import { callerOf, implemented, lists, make, sampleOf, send } from '../support/operations.ts'
import { orderingsOf } from '../support/schema.ts'
import { buildWorld, type World } from '../support/world.ts'

/**
 * The most that an operation's sample may cost at the database, the look-up of the caller included. D1 bills rows read
 * and written and allows so many statements a request: a number goes up by a decision, never by accident.
 */
const budgets: Record<string, Omit<Cost, 'round_trips'> & { round_trips?: number }> = {
  getUserInfo: { queries: 2, rows_read: 24, rows_written: 0 },
  listAccessTokens: { queries: 3, rows_read: 9, rows_written: 0 },
  createAccessToken: { queries: 4, rows_read: 8, rows_written: 3 },
  revokeAccessToken: { queries: 4, rows_read: 6, rows_written: 1 },
  listOrganizations: { queries: 3, rows_read: 12, rows_written: 0 },
  createOrganization: { queries: 1, rows_read: 0, rows_written: 5 },
  getOrganization: { queries: 2, rows_read: 6, rows_written: 0 },
  updateOrganization: { queries: 4, rows_read: 7, rows_written: 4 },
  listOrganizationMembers: { queries: 4, rows_read: 36, rows_written: 0 },
  addOrganizationMember: { queries: 5, rows_read: 9, rows_written: 6 },
  removeOrganizationMember: { queries: 5, rows_read: 9, rows_written: 1 },
  listSenderDomains: { queries: 4, rows_read: 6, rows_written: 0 },
  createSenderDomain: { queries: 5, rows_read: 7, rows_written: 3 },
  getSenderDomain: { queries: 2, rows_read: 6, rows_written: 0 },
  verifySenderDomain: { queries: 5, rows_read: 7, rows_written: 1 },
  deleteSenderDomain: { queries: 4, rows_read: 7, rows_written: 1 },
  listEvents: { queries: 3, rows_read: 13, rows_written: 0 },
  createEvent: { queries: 3, rows_read: 5, rows_written: 3 },
  listEditions: { queries: 3, rows_read: 19, rows_written: 0 },
  createEdition: { queries: 4, rows_read: 7, rows_written: 3 },
  getEditionMeta: { queries: 2, rows_read: 61, rows_written: 0 },
  getEdition: { queries: 2, rows_read: 8, rows_written: 0 },
  duplicateEdition: { queries: 25, rows_read: 132, rows_written: 62 },
  getEditionHealthcheck: { queries: 8, rows_read: 42, rows_written: 0 },
  updateEdition: { queries: 10, rows_read: 16, rows_written: 7 },
  listOrders: { queries: 3, rows_read: 14, rows_written: 0 },
  getOrder: { queries: 5, rows_read: 26, rows_written: 0 },
  getPurchase: { queries: 3, rows_read: 12, rows_written: 0 },
  listPurchases: { queries: 3, rows_read: 20, rows_written: 0 },
  // Six of the rows written are a delivery to the one endpoint that listens.
  createPurchaseUse: { queries: 9, rows_read: 21, rows_written: 10 },
  revertPurchaseUse: { queries: 12, rows_read: 25, rows_written: 11 },
  // A purchase, a payment, a transaction, an event and its delivery, a mail and the audit entry.
  settleRefundRequest: { queries: 13, rows_read: 47, rows_written: 21 },
  // Of a request for one purchase: four statements and nine rows, and the event with its delivery to one endpoint.
  createPurchaseRefundRequest: { queries: 10, rows_read: 36, rows_written: 16 },
  createRefundRequest: { queries: 9, rows_read: 33, rows_written: 16 },
  listRefundRequests: { queries: 3, rows_read: 18, rows_written: 0 },
  getRefundRequest: { queries: 2, rows_read: 12, rows_written: 0 },
  // They complete at once: two events, the row of the refund and its confirmation.
  approveRefundRequest: { queries: 24, rows_read: 113, rows_written: 32 },
  retryRefundRequest: { queries: 22, rows_read: 101, rows_written: 33 },
  rejectRefundRequest: { queries: 13, rows_read: 49, rows_written: 15 },
  cancelRefundRequest: { queries: 7, rows_read: 19, rows_written: 3 },
  createRefundBatch: { queries: 5, rows_read: 89, rows_written: 2 },
  listRefundBatches: { queries: 4, rows_read: 6, rows_written: 0 },
  getRefundBatch: { queries: 2, rows_read: 7, rows_written: 0 },
  startRefundBatch: { queries: 5, rows_read: 9, rows_written: 2 },
  cancelRefundBatch: { queries: 4, rows_read: 8, rows_written: 2 },
  listWalletPasses: { queries: 4, rows_read: 9, rows_written: 0 },
  createWalletPass: { queries: 10, rows_read: 27, rows_written: 11 },
  voidWalletPass: { queries: 5, rows_read: 10, rows_written: 3 },
  listEmailMessages: { queries: 3, rows_read: 12, rows_written: 0 },
  createEmailMessage: { queries: 4, rows_read: 7, rows_written: 4 },
  getEmailMessage: { queries: 2, rows_read: 8, rows_written: 0 },
  updateEmailMessage: { queries: 5, rows_read: 10, rows_written: 2 },
  deleteEmailMessage: { queries: 7, rows_read: 28, rows_written: 1 },
  adoptEmailMessage: { queries: 10, rows_read: 15, rows_written: 7 },
  duplicateEmailMessage: { queries: 6, rows_read: 13, rows_written: 4 },
  previewEmailMessage: { queries: 2, rows_read: 8, rows_written: 0 },
  listTemplateVariables: { queries: 1, rows_read: 4, rows_written: 0 },
  listUsers: { queries: 3, rows_read: 84, rows_written: 0 },
  getUser: { queries: 2, rows_read: 12, rows_written: 0 },
  updateUser: { queries: 7, rows_read: 27, rows_written: 6 },
  eraseUser: { queries: 23, rows_read: 213, rows_written: 40 },
  exportUser: { queries: 21, rows_read: 60, rows_written: 0 },
  listFiles: { queries: 3, rows_read: 13, rows_written: 0 },
  uploadFile: { queries: 8, rows_read: 11, rows_written: 6 },
  getFile: { queries: 2, rows_read: 13, rows_written: 0 },
  updateFile: { queries: 6, rows_read: 15, rows_written: 1 },
  deleteFile: { queries: 9, rows_read: 20, rows_written: 4 },
  startFileUpload: { queries: 6, rows_read: 8, rows_written: 3 },
  getFileUpload: { queries: 2, rows_read: 6, rows_written: 0 },
  putFileUploadPart: { queries: 6, rows_read: 8, rows_written: 2 },
  completeFileUpload: { queries: 9, rows_read: 13, rows_written: 6 },
  abortFileUpload: { queries: 7, rows_read: 10, rows_written: 3 },
  listWebhooks: { queries: 3, rows_read: 18, rows_written: 0 },
  createWebhook: { queries: 4, rows_read: 7, rows_written: 2 },
  getWebhook: { queries: 2, rows_read: 6, rows_written: 0 },
  updateWebhook: { queries: 6, rows_read: 23, rows_written: 8 },
  deleteWebhook: { queries: 4, rows_read: 8, rows_written: 1 },
  rotateWebhookSecret: { queries: 4, rows_read: 7, rows_written: 1 },
  testWebhook: { queries: 5, rows_read: 7, rows_written: 7 },
  recoverWebhookDeliveries: { queries: 5, rows_read: 24, rows_written: 8 },
  listWebhookEventKinds: { queries: 1, rows_read: 4, rows_written: 0 },
  listWebhookDeliveries: { queries: 4, rows_read: 40, rows_written: 0 },
  getWebhookDelivery: { queries: 2, rows_read: 10, rows_written: 0 },
  retryWebhookDelivery: { queries: 4, rows_read: 13, rows_written: 5 },
  listSegments: { queries: 3, rows_read: 17, rows_written: 0 },
  createSegment: { queries: 4, rows_read: 7, rows_written: 4 },
  getSegment: { queries: 2, rows_read: 11, rows_written: 0 },
  updateSegment: { queries: 5, rows_read: 13, rows_written: 2 },
  deleteSegment: { queries: 6, rows_read: 11, rows_written: 1 },
  recalculateSegment: { queries: 4, rows_read: 10, rows_written: 2 },
  resetSegmentToDraft: { queries: 4, rows_read: 9, rows_written: 1 },
  exportSegmentUsers: { queries: 4, rows_read: 9, rows_written: 2 },
  getCelContext: { queries: 3, rows_read: 446, rows_written: 0 },
  validateCel: { queries: 5, rows_read: 92, rows_written: 0 },
  explainSegment: { queries: 3, rows_read: 34, rows_written: 0 },
  listCampaigns: { queries: 3, rows_read: 19, rows_written: 0 },
  createCampaign: { queries: 5, rows_read: 10, rows_written: 7 },
  getCampaign: { queries: 2, rows_read: 9, rows_written: 0 },
  updateCampaign: { queries: 6, rows_read: 16, rows_written: 2 },
  deleteCampaign: { queries: 5, rows_read: 14, rows_written: 1 },
  scheduleCampaign: { queries: 6, rows_read: 13, rows_written: 2 },
  sendCampaignNow: { queries: 7, rows_read: 15, rows_written: 3 },
  cancelCampaign: { queries: 5, rows_read: 13, rows_written: 2 },
  getCampaignStats: { queries: 2, rows_read: 9, rows_written: 0 },
  listCampaignRecipients: { queries: 2, rows_read: 9, rows_written: 0 },
  retryFailedCampaignRecipients: { queries: 6, rows_read: 13, rows_written: 2 },
  listConsents: { queries: 3, rows_read: 6, rows_written: 0 },
  createConsent: { queries: 5, rows_read: 7, rows_written: 6 },
  getConsent: { queries: 2, rows_read: 9, rows_written: 0 },
  updateConsent: { queries: 6, rows_read: 11, rows_written: 2 },
  deleteConsent: { queries: 6, rows_read: 15, rows_written: 3 },
  listUserConsents: { queries: 4, rows_read: 43, rows_written: 0 },
  listConsentRecords: { queries: 4, rows_read: 19, rows_written: 0 },
  getConsentProof: { queries: 4, rows_read: 19, rows_written: 0 },
  giveConsent: { queries: 7, rows_read: 34, rows_written: 4 },
  skipConsent: { queries: 7, rows_read: 34, rows_written: 4 },
  withdrawConsent: { queries: 8, rows_read: 36, rows_written: 5 },
  // A row of a purchase stands in an index by its time and in one by its status.
  importExternalOrders: { queries: 21, rows_read: 39, rows_written: 43 },
  listDataImports: { queries: 3, rows_read: 19, rows_written: 0 },
  createDataImport: { queries: 4, rows_read: 7, rows_written: 3 },
  getDataImport: { queries: 2, rows_read: 8, rows_written: 0 },
  updateDataImport: { queries: 5, rows_read: 11, rows_written: 3 },
  cancelDataImport: { queries: 5, rows_read: 11, rows_written: 2 },
  undoDataImport: { queries: 6, rows_read: 11, rows_written: 3 },
  listImportTargetFields: { queries: 3, rows_read: 9, rows_written: 0 },
  // They read the columns of the file and the consents and formats that decide on them.
  listColumnMappings: { queries: 7, rows_read: 35, rows_written: 0 },
  updateColumnMappings: { queries: 11, rows_read: 22, rows_written: 4 },
  validateColumnMappings: { queries: 5, rows_read: 17, rows_written: 0 },
  processColumnMappings: { queries: 9, rows_read: 20, rows_written: 3 },
  listProductMappings: { queries: 4, rows_read: 10, rows_written: 0 },
  updateProductMappings: { queries: 11, rows_read: 31, rows_written: 3 },
  // It decides on orders as the import does.
  previewImportOrders: { queries: 18, rows_read: 44, rows_written: 0 },
  startDataImport: { queries: 8, rows_read: 11, rows_written: 3 },
  listImportRows: { queries: 5, rows_read: 16, rows_written: 0 },
  downloadErrorReport: { queries: 2, rows_read: 8, rows_written: 0 },
  streamImportEvents: { queries: 2, rows_read: 8, rows_written: 0 },
  listAuditLog: { queries: 3, rows_read: 20, rows_written: 0 },
  listMerchantAccounts: { queries: 3, rows_read: 8, rows_written: 0 },
  createMerchantAccount: { queries: 5, rows_read: 9, rows_written: 3 },
  getMerchantAccount: { queries: 2, rows_read: 6, rows_written: 0 },
  updateMerchantAccount: { queries: 4, rows_read: 7, rows_written: 1 },
  deleteMerchantAccount: { queries: 5, rows_read: 8, rows_written: 1 },
}

/** What the entry of the audit log costs beside the change: a row with its two indexes. */
const entry: Omit<Cost, 'round_trips'> = { queries: 1, rows_read: 0, rows_written: 3 }
const recorded = implemented.filter(
  ({ id, scope }) => scope === 'write' || id === 'exportSegmentUsers' || id === 'exportUser',
)

/**
 * Rows read for each further row of a list: 1 is the count alone. More where the count looks at a second table, and
 * for orders without an index, which are few rows by nature.
 */
const growth: Record<string, Record<string, number>> = {
  // The rows are memberships of the caller, whom the look-up reads too.
  listOrganizations: { '': 8, created: 8, modified: 8, name: 8 },
  listAccessTokens: { name: 3 },
  listOrganizationMembers: { role: 3 },
  // Requests of an edition are few beside its purchases.
  listRefundBatches: { modified: 3 },
  listRefundRequests: { modified: 3, requested_amount: 3, status: 3 },
  listEditions: { modified: 3, start_date: 3, end_date: 3, name: 3 },
  listCampaigns: { modified: 3, name: 3, scheduled_at: 3, total_recipients: 3 },
  // Few rows: the endpoints of an organisation.
  listWebhooks: { '': 3, created: 3, modified: 3, name: 3 },
  listWebhookDeliveries: { modified: 3, name: 3 },
  // Few rows: the definitions of an organisation.
  listConsents: { modified: 3, name: 3, position: 3 },
  listUserConsents: { '': 3, position: 3, name: 3 },
  // Few rows: an organisation has at most a hundred.
  listMerchantAccounts: { modified: 3, name: 3 },
  // Few rows: the segments of an organisation.
  listSegments: { modified: 3, name: 3, user_count: 3, calculated_at: 3 },
  // Few rows: the files of an organisation.
  listFiles: { modified: 3, name: 3, size: 3 },
  // Few rows: the imports of an organisation.
  listDataImports: { modified: 3, name: 3, status: 3 },
  // All columns decide whether a mapping is whole; a file has at most 200.
  listColumnMappings: { '': 2, source_index: 2 },
  // Few rows: the products that a file names.
  listProductMappings: { rows_count: 3, product: 3 },
  // It decides on the first thousand orders for its totals.
  previewImportOrders: { '': 220, row: 220 },
  // Few rows: the messages of an edition.
  listEmailMessages: { modified: 3, title: 3 },
  // An edition's customers are counted through user_editions.
  listUsers: { '': 2, email: 2, phone_number: 2, date_joined: 2, last_seen: 2 },
}

/** Reads that look at more than a resource and its neighbours, in one batch. */
const handful: Record<string, number> = {
  // The order, its items, its purchases and its transactions: one round trip.
  getOrder: 5,
  getEditionHealthcheck: 8,
  getConsentProof: 4,
  listColumnMappings: 7,
  previewImportOrders: 18,
  listImportRows: 5,
}

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

it('of all operations are known', () => {
  const ids = implemented.map(({ id }) => id)
  expect(ids.filter((id) => !budgets[id])).toEqual([])
  expect(Object.keys(budgets).filter((id) => !ids.includes(id))).toEqual([])
})

describe.each(implemented.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  it('costs no more than its budget', async () => {
    const caller = callerOf(operation, world)
    const reply = await send(operation, await make(operation, world, caller), { token: caller.token })
    expect(reply.status).toBe(operation.status)
    const cost = costOf(reply)
    const budget = budgets[id]
    const most = (key: keyof typeof entry) => (budget?.[key] ?? 0) + (recorded.includes(operation) ? entry[key] : 0)
    for (const key of ['queries', 'rows_read', 'rows_written'] as const)
      expect([key, cost[key]]).toEqual([key, Math.min(cost[key], most(key))])
  })

  it.runIf(operation.method === 'get' && operation.file === null)('reads in a handful of statements', () => {
    const parent = lists.includes(operation) && operation.path.includes('{') ? 1 : 0
    expect(budgets[id]?.queries).toBeLessThanOrEqual(handful[id] ?? 3 + parent)
    expect(budgets[id]?.rows_written).toBe(0)
  })
})

const extra = 200
const sized = (operation: Operation) => 'page_size' in ((operation.query as unknown as { shape: object }).shape ?? {})

async function firstPage(operation: Operation, ordering: string): Promise<number> {
  const sample = await make(operation, world, world.people.OA)
  const query = { ...sample.query, ...(ordering ? { ordering } : {}), ...(sized(operation) ? { page_size: '3' } : {}) }
  const reply = await send(operation, { ...sample, query }, { token: world.people.OA.token })
  expect(reply.status).toBe(200)
  return costOf(reply).rows_read
}

describe.each(lists.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  it('reads the rows of its first page, however long it is', async () => {
    const { fill } = sampleOf(operation)
    if (!fill) throw new Error(`the sample of ${id} fills no list`)
    const orderings = ['', ...orderingsOf(operation).flatMap((key) => [key, `-${key}`])]
    // Full pages before and after, so that they differ in the number of rows beyond them alone.
    await fill(world, sized(operation) ? 4 : 101)
    const before: Record<string, number> = {}
    for (const ordering of orderings) before[ordering] = await firstPage(operation, ordering)
    await fill(world, extra)
    for (const ordering of orderings) {
      const grown = (await firstPage(operation, ordering)) - (before[ordering] ?? 0)
      const allowed = (growth[id]?.[ordering.replace('-', '')] ?? 1) * extra + 2
      expect([ordering, Math.max(grown, allowed)]).toEqual([ordering, allowed])
    }
  })
})
