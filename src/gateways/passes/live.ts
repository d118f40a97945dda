import type { AppleIdentity } from './apple-fields.ts'
import { buildApplePackage } from './apple-package.ts'
import { type PushConnection, pushToPhone } from './apple-push.ts'
import { readPem, signDetached, importSigningKey, type Signer } from './detached-signature.ts'
import { insertResource, parseServiceAccount, patchResource, type ServiceAccount, signJwt } from './google-api.ts'
import { loadGoogleSenders } from './google-keys.ts'
import {
  buildGoogleClass,
  type GoogleIdentity,
  buildGoogleObject,
  buildGoogleUpdate,
  buildSaveClaims,
  buildSaveUrl,
} from './google-object.ts'
import type { GoogleResult, PassesGateway } from './passes.ts'

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
  const cachedSigner = signers.get(cacheKey)
  if (cachedSigner) return cachedSigner
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
  const callGoogle = async (call: (account: ServiceAccount) => Promise<GoogleResult>): Promise<GoogleResult> => {
    try {
      return await call(parseServiceAccount(google.serviceAccount))
    } catch {
      // The service account or its key is invalid.
      return { ok: false, kind: 'configuration', code: 'no_account' }
    }
  }
  const getApiOptions = () => ({ apiBase: google.apiBase, now: now() })
  return {
    createAddUrl: async (pass) => {
      if (pass.platform === 'apple') return pass.download_url
      const claims = buildSaveClaims(pass.content, google)
      return buildSaveUrl(await signJwt(parseServiceAccount(google.serviceAccount), 'google', claims, { now: now() }))
    },
    storeGoogle: (content, edition) =>
      callGoogle(async (account) => {
        const options = getApiOptions()
        const storedClass = await insertResource(
          account,
          'eventTicketClass',
          buildGoogleClass(edition, google),
          options,
        )
        if (storedClass && !storedClass.ok) return storedClass
        const object = buildGoogleObject(content, google)
        const storedObject = await insertResource(account, 'eventTicketObject', object, options)
        return storedObject || patchResource(account, 'eventTicketObject', object, options)
      }),
    updateGoogle: (content) =>
      callGoogle((account) => {
        const { id } = buildGoogleObject(content, google)
        return patchResource(account, 'eventTicketObject', { id, ...buildGoogleUpdate(content) }, getApiOptions())
      }),
    updateGoogleClass: (edition) =>
      callGoogle((account) =>
        patchResource(account, 'eventTicketClass', buildGoogleClass(edition, google), getApiOptions()),
      ),
    buildApplePackage: async (pass) => {
      const signer = await loadSigner(apple)
      return buildApplePackage(pass, apple, (manifest) => signDetached(manifest, signer, now()))
    },
    pushApple: async ({ push_token }) => (push ? pushToPhone(push, apple.passTypeId, push_token) : 'off'),
    loadCallbackSenders: (isFresh) => loadGoogleSenders(isFresh, now()),
  }
}
