import type { LinkProps } from '@tanstack/react-router'

export interface Place {
  edition: string | undefined
  organization: string | undefined
}

/** The pages of resources, by the prefix of their ids. `:id` stands for the id. */
const editionPages: Readonly<Record<string, string>> = {
  cat: 'categories',
  cmp: 'campaigns/:id',
  con: 'consents/:id',
  edt: 'settings',
  eml: 'email-messages/:id',
  fee: 'fee-rules',
  fil: 'files',
  imp: 'imports/:id',
  loc: 'locations',
  ord: 'orders/:id',
  prd: 'products/:id',
  psd: 'pass-designs',
  rfb: 'refund-batches/:id',
  rfr: 'refunds/:id',
  seg: 'segments/:id',
  sgf: 'signup-forms/:id',
  sup: 'suppressions',
  usr: 'customers/:id',
  whd: 'webhook-deliveries',
  whk: 'webhooks/:id',
}

const organizationPages: Readonly<Record<string, string>> = {
  evt: 'editions',
  mac: 'merchant-accounts',
  mem: 'members',
  org: '',
  sdm: 'sender-domains',
  tok: 'tokens',
}

/** An address of the console as a link. */
export const linkTo = (path: string, hash?: string): LinkProps =>
  ({ to: path, ...(hash !== undefined && { hash }) }) as unknown as LinkProps

/** The page of a resource. Null if it has none. */
export function findRecordLink(id: string, { edition, organization }: Place): LinkProps | null {
  const prefix = id.split('_')[0] ?? ''
  const inEdition = editionPages[prefix]
  const owner = prefix === 'edt' ? id : edition
  if (inEdition !== undefined && owner !== undefined)
    return linkTo(`/editions/${owner}/${inEdition.replace(':id', id)}`)
  const inOrganization = organizationPages[prefix]
  if (inOrganization !== undefined && organization !== undefined)
    return linkTo(`/organizations/${prefix === 'org' ? id : organization}/${inOrganization}`)
  return null
}
