import {
  computeMac,
  idFromBytes,
  idToBytes,
  isSigned,
  numberFromBytes,
  numberToBytes,
  splitToken,
  type TokenSigner,
  toToken,
} from '../accounts/signed-tokens.ts'
import { idPrefixes } from '../ids.ts'

/**
 * SMS carry these tokens, so they are as short as possible. A token holds the campaign's ULID (16 bytes, and 2 more
 * when the id ends with the mark of a cell), one byte for the kind, the numbers of recipient and link (1 to 8 bytes
 * each), and 8 bytes of HMAC-SHA256.
 */
export const linkKinds = ['open', 'unsubscribe', 'resubscribe', 'click'] as const
export type LinkKind = (typeof linkKinds)[number]

export interface LinkTarget {
  kind: LinkKind
  campaign_id: string
  n: number
  /** The position among the campaign's links. It is 0 for every kind but `click`. */
  link: number
}

const signer: TokenSigner = { purpose: 'campaign-links', macBytes: 32 }
const tagBytes = 8
const tagsOfMac = signer.macBytes / tagBytes

export type MintLink = (target: Omit<LinkTarget, 'campaign_id'>) => string

/**
 * Signs the links of one campaign. Each link of a recipient has a number, and four in a row take 8 bytes each of one
 * MAC, because MACs take much of the time of sending.
 */
function createTagger(secret: string, id: Uint8Array): (target: Omit<LinkTarget, 'campaign_id'>) => Uint8Array {
  let [recipient, block] = [-1, -1]
  let mac: Uint8Array = new Uint8Array()
  return ({ kind, n, link }) => {
    const number = linkKinds.indexOf(kind) + link
    if (recipient !== n || block !== Math.floor(number / tagsOfMac)) {
      recipient = n
      block = Math.floor(number / tagsOfMac)
      mac = computeMac(secret, signer, Uint8Array.from([...id, ...numberToBytes(n), ...numberToBytes(block)]))
    }
    const from = (number % tagsOfMac) * tagBytes
    return mac.subarray(from, from + tagBytes)
  }
}

/** Creates a function that makes the tokens of one campaign. */
export function createLinkMinter(secret: string, campaignId: string): MintLink {
  const id = idToBytes(idPrefixes.campaign, campaignId)
  if (!id) throw new Error(`${campaignId} is not a campaign id`)
  const computeTag = createTagger(secret, id)
  return (target) => {
    const { kind, n, link } = target
    const content = Uint8Array.from([...id, linkKinds.indexOf(kind), ...numberToBytes(n), ...numberToBytes(link)])
    return toToken(content, computeTag(target))
  }
}

export const mintLinkToken = (secret: string, { campaign_id, ...target }: LinkTarget): string =>
  createLinkMinter(secret, campaign_id)(target)

function readTarget(content: Uint8Array): { target: LinkTarget; id: Uint8Array } | null {
  const campaign = idFromBytes(idPrefixes.campaign, content, 0)
  const kind = campaign && linkKinds[content[campaign.next] ?? -1]
  const n = kind && numberFromBytes(content, campaign.next + 1)
  const link = n && numberFromBytes(content, n.next)
  if (!n || !link || link.next !== content.length || (kind !== 'click' && link.value !== 0)) return null
  const target = { kind, campaign_id: campaign.id, n: n.value, link: link.value }
  return { target, id: content.subarray(0, campaign.next) }
}

/** Returns null when the MAC or the kind of the token is wrong. */
export function readLinkToken(secrets: readonly string[], kind: LinkKind, token: string): LinkTarget | null {
  const parts = splitToken(token, tagBytes)
  const content = parts && readTarget(parts.content)
  if (!content || content.target.kind !== kind) return null
  const { target, id } = content
  return isSigned(secrets, parts.mac, (secret) => createTagger(secret, id)(target)) ? target : null
}
