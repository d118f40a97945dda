import { findIdKind } from '../../ids.ts'
import type { FactSubject } from './facts.ts'

/** The operations that fix what the checks find, or list what a person has to decide about, each with its path. */
const paths = {
  cancelDataImport: '/v1/data-imports/{id}/cancel',
  createConsent: '/v1/consents',
  createLocation: '/v1/locations',
  createPassDesign: '/v1/pass-designs',
  createProduct: '/v1/products',
  createSenderDomain: '/v1/organizations/{organization_id}/sender-domains',
  duplicateEdition: '/v1/editions/{edition_id}/duplicate',
  listRefundBatches: '/v1/editions/{edition_id}/refund-batches',
  listRefundRequests: '/v1/refund-requests',
  recoverWebhookDeliveries: '/v1/webhooks/{id}/recover',
  updateConsent: '/v1/consents/{id}',
  updateEdition: '/v1/editions/{edition_id}',
  updateEmailMessage: '/v1/email-messages/{id}',
  updateMerchantAccount: '/v1/merchant-accounts/{id}',
  updateProduct: '/v1/products/{id}',
  updateWebhook: '/v1/webhooks/{id}',
} as const

export type FixOperation = keyof typeof paths

export interface CheckedEdition {
  id: string
  organization_id: string
  full_name: string
}

/** An object at fault, with the operation that fixes it and the path of its request. */
export interface RelatedObject {
  id: string
  name: string
  type: string
  operation: FixOperation | null
  path: string | null
}

export function relateFix(
  subject: FactSubject,
  edition: CheckedEdition,
  operation: FixOperation | null,
): RelatedObject {
  const { id, name } = subject
  const path =
    operation &&
    paths[operation]
      .replace('{id}', id)
      .replace('{edition_id}', edition.id)
      .replace('{organization_id}', edition.organization_id)
  return { id, name, type: findIdKind(id) ?? '', operation, path }
}
