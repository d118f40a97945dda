import { idPrefixes } from '../ids.ts'
import {
  idFromBytes,
  idToBytes,
  numberFromBytes,
  maxNumberBytes,
  numberToBytes,
  openToken,
  signStart,
  type TokenSigner,
} from '../accounts/signed-tokens.ts'

/**
 * Tokens in the links of messages are as short as they can be, because SMS carry them. 16 bytes of the
 * campaign's ULID, and 2 of its mark where it has one, then kind, recipient and link as numbers of 1 to 8 bytes, then 8 bytes of HMAC-SHA256.
 */
export const linkKinds = ['click', 'open', 'unsubscribe', 'resubscribe'] as const
export type LinkKind = (typeof linkKinds)[number]

export interface LinkTarget {
  kind: LinkKind
  campaign_id: string
  n: number
  /** Which of the campaign's links; 0 for the other kinds. */
  link: number
}

const signer: TokenSigner = { purpose: 'campaign-links', macBytes: 8 }

export type MintLink = (target: Omit<LinkTarget, 'campaign_id'>) => string

/** Makes the tokens of one campaign, which has many. */
export function linkMinter(secret: string, campaignId: string): MintLink {
  const id = idToBytes(idPrefixes.campaign, campaignId)
  if (!id) throw new Error(`${campaignId} is no id of a campaign`)
  // The tokens are made one after another in the same memory.
  const bytes = new Uint8Array(id.length + 1 + 2 * maxNumberBytes + signer.macBytes)
  bytes.set(id)
  return ({ kind, n, link }) => {
    let length = id.length
    bytes[length++] = linkKinds.indexOf(kind)
    for (const byte of numberToBytes(n)) bytes[length++] = byte
    for (const byte of numberToBytes(link)) bytes[length++] = byte
    return signStart(secret, signer, bytes, length)
  }
}

export const mintLinkToken = (secret: string, { campaign_id, ...target }: LinkTarget): string =>
  linkMinter(secret, campaign_id)(target)

/** The target of a token; null when its MAC or kind is wrong. */
export function readLinkToken(secret: string, kind: LinkKind, token: string): LinkTarget | null {
  const content = openToken(secret, signer, token)
  const campaign = content && idFromBytes(idPrefixes.campaign, content, 0)
  if (!campaign || linkKinds[content[campaign.next] ?? -1] !== kind) return null
  const n = numberFromBytes(content, campaign.next + 1)
  const link = n && numberFromBytes(content, n.next)
  if (!n || !link || link.next !== content.length) return null
  return { kind, campaign_id: campaign.id, n: n.value, link: link.value }
}
