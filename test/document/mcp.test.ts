import { describe, expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import { OperationSearch } from '../../src/http/mcp/search.ts'
import type { Operation } from '../../src/http/operations/operation.ts'

const all = operations as readonly Operation[]
const search = new OperationSearch(all)

/** Each question with the operations that have to be among the first three. */
const questions: Record<string, readonly string[]> = {
  'who am I and which organisations can I see': ['getUserInfo'],
  'find the order of a customer by e-mail': ['listOrders'],
  'cancel an order': ['cancelOrder'],
  'give a customer their money back': ['createRefundRequest'],
  'approve a refund': ['approveRefundRequest'],
  'check in a ticket at the door': ['createPurchaseUse'],
  'send a newsletter now': ['sendCampaignNow'],
  'who did not get the campaign and why': ['listCampaignRecipients'],
  'schedule a campaign for tomorrow': ['scheduleCampaign'],
  'how many people clicked the links of the newsletter': ['listCampaignLinks'],
  'import orders from a CSV file': ['createDataImport'],
  'undo an import': ['undoDataImport'],
  'which rows of my import have errors': ['listImportRows', 'downloadErrorReport'],
  'create a segment by an expression': ['createSegment'],
  'unsubscribe an address from all mail': ['addSuppression'],
  'delete all personal data of a customer (GDPR)': ['eraseUser'],
  'list failed webhook deliveries': ['listOrganizationWebhookDeliveries'],
  'send failed webhooks again': ['recoverWebhookDeliveries'],
  'revenue per day of an edition': ['getEditionStats'],
  'what is missing before I can publish the edition': ['getEditionHealthcheck'],
  'invite a colleague': ['addOrganizationMember'],
  'who changed the settings yesterday': ['listAuditLog'],
  'merge two customers who are the same person': ['mergeUsers'],
  'copy last year’s festival': ['duplicateEdition'],
}

describe('the search for operations', () => {
  for (const [question, ids] of Object.entries(questions))
    it(`answers “${question}” among the first three`, () => {
      expect(search.find(question, 3).map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]))
    })

  it('finds every operation first by its id and by its summary on the first page', () => {
    const missedIds = all.filter(({ id }) => search.find(id, 1)[0]?.id !== id).map(({ id }) => id)
    const missedSummaries = all
      .filter((operation) => !search.find(operation.summary, 10).includes(operation))
      .map(({ id }) => id)
    expect({ missedIds, missedSummaries }).toEqual({ missedIds: [], missedSummaries: [] })
  })

  it('always gives the same result, and none for words that no operation has', () => {
    expect(new OperationSearch(all).find('refund order', 10)).toEqual(search.find('refund order', 10))
    expect(search.find('qwxzy', 10)).toEqual([])
    expect(search.find('   ', 10)).toEqual([])
    expect(search.find('constructor __proto__ toString', 10).length).toBeLessThanOrEqual(10)
  })
})

const listIds = (access: Operation['agentAccess']) =>
  all
    .filter(({ scope, agentAccess }) => scope === 'write' && agentAccess === access)
    .map(({ id }) => id)
    .toSorted()

const words = (text: string) => text.trim().split(/\s+/).toSorted()

describe('what agents may call', () => {
  // A new operation that changes something has to be added to one of these lists.
  it('needs a confirmation where an operation sends, pays, approves, erases, deletes, merges, cancels, undoes or changes access', () => {
    expect(listIds('confirm')).toEqual(
      words(`
        abortFileUpload addOrganizationMember approveCampaign approveRefundRequest cancelCampaign
        cancelDataImport cancelOrder cancelRefundBatch cancelRefundRequest createMerchantAccount
        createPurchaseRefundRequest createRefundRequest createWebhook deleteCampaign deleteCategory
        deleteConsent deleteEmailMessage deleteFeeRule deleteFile deleteLocation deleteMerchantAccount
        deletePassDesign deleteProduct deleteSegment deleteSenderDomain deleteSignupForm deleteWebhook
        eraseUser giveConsent importExternalOrders importSuppressions importUsers liftSuppression
        mergeProducts mergeUsers recoverWebhookDeliveries rejectCampaign rejectRefundRequest
        removeOrganizationMember resendReceipt resumeCampaign retryDeadMessage retryFailedCampaignRecipients
        retryRefundRequest retryWebhookDelivery revertPurchaseUse revokeAccessToken revokeOrganizationToken
        scheduleCampaign sendCampaignNow sendTestCampaign sendTestMessage settleRefundRequest skipConsent
        startDataImport startRefundBatch testWebhook undoDataImport updateOrganization
        updateOrganizationMember updateWebhook voidWalletPass withdrawConsent
      `),
    )
  })

  it('never signs anybody in, makes a token or replaces a secret', () => {
    expect(listIds('none')).toEqual(
      words(
        `createAccessToken createSession createSignInLink requestSignInCode rotateWebhookSecret updateMerchantAccount`,
      ),
    )
  })

  it('changes these without a confirmation', () => {
    expect(listIds('free')).toEqual(
      words(`
        addSuppression adoptEmailMessage completeFileUpload createCampaign createCategory createConsent
        createDataImport createEdition createEmailMessage createEvent createFeeRule createLocation
        createOrganization createPassDesign createProduct createPurchaseUse createRefundBatch createSegment
        createSegmentFromCampaign createSenderDomain createSignupForm createUser createWalletPass
        duplicateEdition duplicateEmailMessage pauseCampaign processColumnMappings putFileUploadPart
        recalculateSegment requestCampaignApproval resetSegmentToDraft startFileUpload updateCampaign
        updateCategory updateColumnMappings updateConsent updateDataImport updateEdition updateEmailMessage
        updateEvent updateFeeRule updateFile updateLocation updatePassDesign updateProduct
        updateProductMappings updateSegment updateSignupForm updateUser uploadFile verifySenderDomain
      `),
    )
  })

  it('reads everything, and changes nothing without a token', () => {
    expect(all.filter(({ scope, agentAccess }) => scope === 'read' && agentAccess !== 'free')).toEqual([])
    const publicChanges = all.filter(({ isPublic, scope }) => isPublic && scope === 'write')
    expect(publicChanges.map(({ agentAccess }) => agentAccess)).toEqual(publicChanges.map(() => 'none'))
  })

  it('asks for a confirmation of every DELETE', () => {
    const deletions = all.filter(({ method }) => method === 'delete')
    expect(deletions.length).toBeGreaterThan(10)
    for (const { id, agentAccess } of deletions) expect([id, agentAccess]).toEqual([id, 'confirm'])
  })
})
