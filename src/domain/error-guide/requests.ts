import type { ErrorGuide } from './guide.ts'

/** Refusals of invalid or forbidden requests. */
export const requestErrors = {
  validation_error: {
    cause: 'A field of the body or a parameter of the query breaks a rule. Nothing was changed.',
    mend: 'Read `errors`: each entry names the field, points at it inside the body, and says which rule it broke.',
    example: {
      detail: '1 field is invalid.',
      errors: [{ code: 'max_length', detail: 'At most 200 characters.', attr: 'name', pointer: '#/name' }],
    },
  },
  malformed_body: {
    cause: 'The body is not a JSON object: it is empty, not valid JSON, not UTF-8, or a list.',
    mend: 'Send one JSON object in UTF-8. `errors[0].code` says what is wrong with the body.',
    example: {
      detail: 'A JSON body is required.',
      errors: [{ code: 'required', detail: 'A JSON body is required.', attr: null, pointer: '#' }],
    },
  },
  malformed_request: {
    cause: 'The address contains a character that is not text, such as NUL.',
    mend: 'Encode the parameters of the query anew.',
    example: { detail: 'Query parameters must not contain NUL characters.' },
  },
  not_authenticated: {
    cause: 'The request has no access token, or one that does not exist, has ended or was revoked.',
    mend: 'Send `Authorization: Bearer <token>` with a token that is still good. An admin of the organisation makes one.',
    example: { detail: 'Send a valid access token: Authorization: Bearer <token>.' },
  },
  permission_denied: {
    cause:
      'You may see this, but your role does not allow the operation here. `required_roles` lists the roles that allow it.',
    mend: 'Do what `detail` says. Otherwise ask an admin of the organisation for one of `required_roles`.',
    example: {
      detail:
        'Your role does not allow this operation. It requires the role admin of the organisation or of the edition. Ask an organisation admin.',
      extra: { required_roles: ['OA', 'EA'] },
    },
  },
  shared_customer: {
    cause:
      'Other editions of the organisation know this customer, or the customer who already has the address that was sent.',
    mend: 'Ask an admin or a manager of the organisation to make the change.',
    example: {
      path: '/v1/user/usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
      detail:
        'Other editions of the organisation may know this customer. Ask an admin or a manager of the organisation to make this change.',
      extra: { required_roles: ['OA', 'OM'] },
    },
  },
  client_closed_request: {
    cause: 'The connection was closed before the body had come. Only logs show this code.',
    mend: 'Send the request again.',
    example: { detail: 'The connection was closed before the whole body arrived.' },
  },
  insufficient_scope: {
    cause: 'The token was made with fewer scopes than its owner has roles for.',
    mend: 'Use a token with the scope that `required_scope` names, or make one.',
    example: {
      detail: 'This token does not have the scope `write`. Use a token that has it.',
      extra: { required_scope: 'write' },
    },
  },
  not_found: {
    cause:
      'Nothing exists at this address, or you may not see it. The answer is the same in both cases, so that it reveals nothing.',
    mend: 'Check the path and the id. If they are right, ask for a role in the organisation that the resource belongs to.',
    example: { detail: 'Not found.' },
  },
  invalid_page: {
    cause: 'The list has fewer pages, or the page is not a number.',
    mend: 'Begin at page 1 and follow `next` until it is null.',
    example: { path: '/v1/orders', detail: 'Invalid page.' },
  },
  page_too_deep: {
    cause:
      'The list has this page, but too many rows stand before it to count to it: 1,000,000, or 100,000 in an ordering that has to be sorted.',
    mend: 'Follow `next` from the page before, or narrow the list by a filter.',
    example: { path: '/v1/orders', detail: '`page` is too large for this list. Follow `next` from an earlier page instead.' },
  },
  method_not_allowed: {
    cause: 'The path exists but does not have this method.',
    mend: 'Use a method that the `Allow` header names.',
    example: { path: '/v1/orders', detail: 'This path supports GET, HEAD.' },
  },
  request_timeout: {
    cause: 'The body did not come in time.',
    mend: 'Send the request again. If it happens often, send smaller bodies.',
    example: { detail: 'The body did not arrive within 15 seconds.' },
  },
  precondition_failed: {
    cause:
      'The resource changed after you read the ETag that your `If-Match` names, or it is in a state that your `If-None-Match` rules out. Nothing was changed.',
    mend: 'Read the resource again, decide again, and send its new ETag.',
    example: { detail: 'The resource has changed since you read it.' },
  },
  body_too_large: {
    cause: 'The body has more bytes than this operation reads.',
    mend: 'Split what you send into several requests.',
    example: { path: '/v1/data-imports/external-orders', detail: 'The body has more than 1000000 bytes.' },
  },
  unsupported_media_type: {
    cause:
      'The body is not declared as JSON, is in a charset other than UTF-8, or has a Content-Encoding that the service does not read.',
    mend: 'Send the body in UTF-8 with `Content-Type: application/json` and without `Content-Encoding`.',
    example: { detail: 'Send the body as application/json.' },
  },
  range_not_satisfiable: {
    cause: 'The `Range` begins behind the last byte of the file.',
    mend: 'Ask for bytes that the file has: `Content-Range` says how many these are.',
    example: { path: '/files/fil_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/key/original', detail: 'The file has 1048576 bytes.' },
  },
  idempotency_key_reused: {
    cause: 'The Idempotency-Key belongs to a request with another path or body, sent within the last 24 hours.',
    mend: 'Make a new key for each request that you mean to be done once. Repeat a request with the same body.',
    example: { path: '/v1/campaigns', detail: 'This Idempotency-Key was used for a different request.' },
  },
  rate_limited: {
    cause: 'More requests came than the limit allows, or too many sign-ins failed.',
    mend: 'Wait as many seconds as `Retry-After` says, and send at a slower pace.',
    example: { detail: 'More than 600 requests per minute with this token.' },
  },
} as const satisfies Record<string, ErrorGuide>

/** Failures of the service, or of services on which it depends. */
export const serviceErrors = {
  internal_error: {
    cause: 'Something failed on our side. It was logged under `request_id`.',
    mend: 'Send the request again, with the same Idempotency-Key if it had one. If it fails again, report the `request_id`.',
    example: { detail: 'Something went wrong on our side.' },
  },
  idempotency_unavailable: {
    cause:
      'The service has no key to encrypt stored answers with: neither IDEMPOTENCY_KEY nor LINK_SIGNING_KEY is set.',
    mend: 'Set one of the two as a secret of the Worker. Until then send requests without an Idempotency-Key.',
    example: { path: '/v1/campaigns', detail: 'Requests with an Idempotency-Key are not accepted at the moment.' },
  },
  sealing_unavailable: {
    cause: 'The service has no key to encrypt the keys of payment providers with: MERCHANT_KEY_SECRET is not set.',
    mend: 'Set MERCHANT_KEY_SECRET as a secret of the Worker. Until then merchant accounts take no keys.',
    example: { path: '/v1/merchant-accounts', detail: 'Keys of payment providers are not accepted at present.' },
  },
  identity_unavailable: {
    cause: 'The token comes from the configured identity provider, and the provider does not answer.',
    mend: 'Wait as many seconds as `Retry-After` says, and send the request again.',
    example: { detail: 'The identity provider does not answer. Try again in a moment.' },
  },
  overloaded: {
    cause: 'The database has more work than it can do. Nothing was changed.',
    mend: 'Wait as many seconds as `Retry-After` says, and send the request again.',
    example: { detail: 'The database is busy. Try again in a moment.' },
  },
} as const satisfies Record<string, ErrorGuide>
