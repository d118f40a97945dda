import type { AppleIdentity } from './apple-fields.ts'
import { buildApplePackage } from './apple-package.ts'
import { type PushConnection, pushToPhone } from './apple-push.ts'
import { readPem, signDetached, importSigningKey, type Signer } from './detached-signature.ts'
import { patchObject, parseServiceAccount, signJwt } from './google-api.ts'
import { loadGoogleSenders } from './google-keys.ts'
import {
  buildGoogleClass,
  type GoogleIdentity,
  buildGoogleObject,
  buildGoogleUpdate,
  buildSaveUrl,
} from './google-object.ts'
import type { PassesGateway } from './passes.ts'

export interface LiveOptions {
  apple: AppleIdentity & { certificate: string; privateKey: string; issuerCertificate: string }
  google: GoogleIdentity & { serviceAccount: string; apiBase: string }
  push: PushConnection | undefined
  now: () => number
}

/** Signers are cached, because importing a key takes longer than signing with it. */
const signers = new Map<string, Promise<Signer>>()

function loadSigner({ certificate, privateKey, issuerCertificate }: LiveOptions['apple']): Promise<Signer> {
  const cacheKey = certificate + privateKey
  const cached = signers.get(cacheKey)
  if (cached) return cached
  const signer = importSigningKey(privateKey).then((key) => ({
    key,
    certificate: readPem(certificate, 'CERTIFICATE'),
    issuer: readPem(issuerCertificate, 'CERTIFICATE'),
  }))
  signers.set(cacheKey, signer)
  return signer
}

/** Creates the gateway to the real platforms, with the certificates and accounts of the operator. */
export function createLivePasses({ apple, google, push, now }: LiveOptions): PassesGateway {
  return {
    createAddUrl: async (pass) => {
      if (pass.platform === 'apple') return pass.download_url
      const payload = {
        eventTicketClasses: [buildGoogleClass(pass.content, google)],
        eventTicketObjects: [buildGoogleObject(pass.content, google)],
      }
      const claims = { typ: 'savetowallet', origins: [], payload }
      return buildSaveUrl(await signJwt(parseServiceAccount(google.serviceAccount), 'google', claims, { now: now() }))
    },
    buildApplePackage: async (pass) => {
      const signer = await loadSigner(apple)
      return buildApplePackage(pass, apple, (manifest) => signDetached(manifest, signer, now()))
    },
    loadCallbackSenders: (isFresh) => loadGoogleSenders(isFresh, now()),
    updateGoogle: async (content) => {
      const { id } = buildGoogleObject(content, google)
      const options = { apiBase: google.apiBase, now: now() }
      try {
        return await patchObject(parseServiceAccount(google.serviceAccount), id, buildGoogleUpdate(content), options)
      } catch {
        // The service account or its key is invalid.
        return { ok: false, kind: 'configuration', code: 'no_account' }
      }
    },
    pushApple: async ({ push_token }) => (push ? pushToPhone(push, apple.passTypeId, push_token) : 'off'),
  }
}
