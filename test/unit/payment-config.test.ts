import { expect, it } from 'vitest'
import { readConfig } from '../../src/entry/config.ts'
import type { Bindings } from '../../src/http/env.ts'

const config = (ENVIRONMENT: string, more: object) =>
  readConfig({
    ENVIRONMENT,
    PUBLIC_URL: 'https://events.example',
    EMAIL_API_BASE: '',
    SMS_API_BASE: '',
    DNS_API_BASE: '',
    WEBHOOK_RETRY_SCHEDULE: '',
    EMAIL_FROM: '',
    WALLET_VENDOR_A: '',
    WALLET_VENDOR_B: '',
    PAYMENT_API_BASE: '',
    ...more,
  } as unknown as Bindings).payments

it('the service sends API keys only to https addresses, and to this machine in development', () => {
  const base = (environment: string, PAYMENT_API_BASE: string) => config(environment, { PAYMENT_API_BASE }).apiBase
  expect(base('production', '')).toBe('')
  expect(base('production', 'https://stripe.example/')).toBe('https://stripe.example')
  for (const local of ['http://127.0.0.1:1234', 'http://localhost:1/', 'http://[::1]:80']) {
    expect(base('development', local)).toBe(local.replace(/\/$/, ''))
    expect(() => base('production', local)).toThrow(/PAYMENT_API_BASE/)
    expect(() => base('', local)).toThrow(/PAYMENT_API_BASE/)
  }
  for (const wrong of ['http://stripe.example', 'stripe', 'ftp://127.0.0.1', 'http://127.0.0.1.example.com'])
    for (const environment of ['production', 'development', 'test'])
      expect(() => base(environment, wrong)).toThrow(/PAYMENT_API_BASE/)
})

it('the service encrypts API keys in production with a secret of their own', () => {
  const secrets = (environment: string, more: object) => config(environment, more).secrets
  expect(secrets('production', { LINK_SIGNING_KEY: 'links' })).toEqual([])
  expect(secrets('development', { LINK_SIGNING_KEY: 'links' })).toEqual(['links'])
  expect(secrets('production', { MERCHANT_KEY_SECRET: 'a', MERCHANT_KEY_SECRET_PREVIOUS: 'b' })).toEqual(['a', 'b'])
})
