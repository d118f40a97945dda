import { idPrefixes } from '../ids.ts'
import {
  idFromBytes,
  idToBytes,
  numberFromBytes,
  numberToBytes,
  openToken,
  signToken,
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

/** The bytes of the last campaign's id: it has thousands of tokens one after another, and reading an id takes longer than a MAC. */
let last: { id: string; bytes: Uint8Array } | null = null

function bytesOf(campaignId: string): Uint8Array {
  if (last?.id === campaignId) return last.bytes
  const bytes = idToBytes(idPrefixes.campaign, campaignId)
  if (!bytes) throw new Error(`${campaignId} is no id of a campaign`)
  last = { id: campaignId, bytes }
  return bytes
}

export async function mintLinkToken(secret: string, { kind, campaign_id, n, link }: LinkTarget): Promise<string> {
  const content = [...bytesOf(campaign_id), linkKinds.indexOf(kind), ...numberToBytes(n), ...numberToBytes(link)]
  return signToken(secret, signer, content)
}

/** The target of a token; null when its MAC or kind is wrong. */
export async function readLinkToken(secret: string, kind: LinkKind, token: string): Promise<LinkTarget | null> {
  const content = await openToken(secret, signer, token)
  const campaign = content && idFromBytes(idPrefixes.campaign, content, 0)
  if (!campaign || linkKinds[content[campaign.next] ?? -1] !== kind) return null
  const n = numberFromBytes(content, campaign.next + 1)
  const link = n && numberFromBytes(content, n.next)
  if (!n || !link || link.next !== content.length) return null
  return { kind, campaign_id: campaign.id, n: n.value, link: link.value }
}
