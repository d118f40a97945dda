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
import { idPrefixes } from '../ids.ts'

/**
 * SMS carry these tokens, so they are as short as possible. A token holds the campaign's ULID (16 bytes, and 2 more
 * when the id ends with the mark of a cell), one byte for the kind, the numbers of recipient and link (1 to 8 bytes
 * each), and 8 bytes of HMAC-SHA256.
 */
export const linkKinds = ['click', 'open', 'unsubscribe', 'resubscribe'] as const
export type LinkKind = (typeof linkKinds)[number]

export interface LinkTarget {
  kind: LinkKind
  campaign_id: string
  n: number
  /** The position among the campaign's links. It is 0 for every kind but `click`. */
  link: number
}

const signer: TokenSigner = { purpose: 'campaign-links', macBytes: 8 }

export type MintLink = (target: Omit<LinkTarget, 'campaign_id'>) => string

/** Creates a function that makes the tokens of one campaign. */
export function createLinkMinter(secret: string, campaignId: string): MintLink {
  const id = idToBytes(idPrefixes.campaign, campaignId)
  if (!id) throw new Error(`${campaignId} is not a campaign id`)
  // A campaign needs millions of tokens, so they all use the same buffer.
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
  createLinkMinter(secret, campaign_id)(target)

/** Returns null when the MAC or the kind of the token is wrong. */
export function readLinkToken(secrets: readonly string[], kind: LinkKind, token: string): LinkTarget | null {
  const content = openToken(secrets, signer, token)
  const campaign = content && idFromBytes(idPrefixes.campaign, content, 0)
  if (!campaign || linkKinds[content[campaign.next] ?? -1] !== kind) return null
  const n = numberFromBytes(content, campaign.next + 1)
  const link = n && numberFromBytes(content, n.next)
  if (!n || !link || link.next !== content.length) return null
  return { kind, campaign_id: campaign.id, n: n.value, link: link.value }
}
