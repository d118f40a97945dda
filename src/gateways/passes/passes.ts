import type { CallbackSender } from '../../domain/wallet/google-callback.ts'
import type { PassContent } from '../../domain/wallet/wallet-pass.ts'

/** The content of a pass for Apple's wallet. */
export interface ApplePass {
  content: PassContent
  /** The token that the phone sends to the web service. */
  token: string
}

/** A requested pass. */
type RequestedPass =
  | { platform: 'apple'; content: PassContent; download_url: string }
  | { platform: 'google'; content: PassContent }

/**
 * `permanent`: this update can never succeed. `configuration`: no update succeeds until the account is fixed. `transient`:
 * it can succeed later. `gone`: no phone has the pass.
 */
export type UpdateResult =
  | { ok: true }
  | { ok: false; kind: 'permanent' | 'configuration' | 'transient' | 'gone'; code: string }

/** `refused`: this push can never succeed. `off`: there is no connection. `transient`: it can succeed later. */
export type PushResult = 'sent' | 'gone' | 'refused' | 'transient' | 'off'

/** Tells a phone that a pass has changed. */
export interface Push {
  pass_id: string
  change_number: number
  push_token: string
}

export interface PassesGateway {
  /** The URL that adds the pass to the wallet of the person who opens it. */
  createAddUrl: (pass: RequestedPass) => Promise<string>
  /** The bytes of a .pkpass. */
  buildApplePackage: (pass: ApplePass) => Promise<Uint8Array<ArrayBuffer>>
  /** Who may sign callbacks. `isFresh` ignores the cache. Throws if no keys could be loaded. */
  loadCallbackSenders: (isFresh: boolean) => Promise<readonly CallbackSender[]>
  /** Updates Google's copy of a pass. It can be repeated, and never throws. */
  updateGoogle: (content: PassContent, changeNumber: number) => Promise<UpdateResult>
  /** Makes a phone request the changes. Never throws. */
  pushApple: (push: Push) => Promise<PushResult>
}
