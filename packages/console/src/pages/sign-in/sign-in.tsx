import { Anchor, Button, Container, Divider, NativeSelect, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { queries } from '../../api'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { readTarget } from '../../pending-sign-in'
import { onTokenChange, readPendingSignIn, readToken, storeToken } from '../../session'
import { changeLanguage, language, languages, loadWords, type Language, words } from '../../words'
import { CodeForm } from './code-form'
import { Pending } from './pending'
import { AccessButton, ProviderButton } from './provider-buttons'
import { loadMethods, loadPerson, type Methods } from './service'
import { TokenForm } from './token-form'

const authWords = await loadWords('auth')

const route = getRouteApi('/sign-in')
const methods = { queryKey: ['sign-in methods'], queryFn: loadMethods, staleTime: Infinity }

/** The ways to sign in here. It is also where people come back to from their identity provider. */
export function SignIn() {
  const search = route.useSearch()
  const to = readTarget(search.to, location.origin)
  const router = useRouter()
  const [pending, setPending] = useState(readPendingSignIn)
  const query = useQuery(methods)
  const token = useSyncExternalStore(onTokenChange, readToken)
  const [tokenBefore] = useState(readToken)
  // An address with a target was opened by nobody who was signed in. The session of a busy tab can arrive before this page.
  const wasSignedIn = tokenBefore !== null && search.to === undefined
  // Somebody signed in, here or in another tab.
  useEffect(() => {
    if (pending === null && token !== null && !wasSignedIn) router.history.replace(to)
  }, [pending, token, wasSignedIn, router, to])
  const enter = (newToken: string, target = to) => {
    queries.clear()
    storeToken(newToken)
    router.history.replace(target)
  }
  return (
    <Container component="main" size={420} py={{ base: 24, sm: 72 }}>
      <Stack>
        <Heading title={words.common.signIn} />
        {pending !== null ? (
          <Pending
            pending={pending}
            methods={query}
            enter={enter}
            leave={() => (token === null ? setPending(null) : router.history.replace(to))}
          />
        ) : (
          <>
            {wasSignedIn && token !== null && <SignedIn token={token} goOn={() => router.history.replace(to)} />}
            <Paper withBorder p="lg">
              <Loaded query={query} heights={[36, 60]}>
                {(data) => <Ways methods={data} to={to} enter={enter} />}
              </Loaded>
              {query.error && <TokenForm enter={enter} />}
            </Paper>
          </>
        )}
        <NativeSelect
          aria-label={words.common.language}
          w={160}
          value={language}
          data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
          onChange={(event) => changeLanguage(event.currentTarget.value as Language)}
        />
      </Stack>
    </Container>
  )
}

/** Whoever is signed in can go on, or sign in anew, which some changes require. */
function SignedIn({ token, goOn }: { token: string; goOn: () => void }) {
  const person = useQuery({ queryKey: ['person', token], queryFn: () => loadPerson(token), retry: false }).data
  if (!person) return null
  return (
    <Stack gap="xs">
      <Text>
        {authWords.signedInAs} {person.full_name || words.common.superuser}
      </Text>
      <Button variant="default" onClick={goOn}>
        {authWords.goOn}
      </Button>
    </Stack>
  )
}

interface WaysProps {
  methods: Methods
  to: string
  enter: (token: string) => void
}

/** The ways that the service offers, and a token for programmers and for the first day. */
function Ways({ methods: { methods: offered, issuer, client_id }, to, enter }: WaysProps) {
  const hasProvider = offered.includes('oidc') && issuer !== null && client_id !== null
  const hasOther = hasProvider || offered.includes('access') || offered.includes('code')
  const [isTokenOpen, setTokenOpen] = useState(false)
  return (
    <Stack>
      {hasProvider && <ProviderButton issuer={issuer} clientId={client_id} to={to} />}
      {offered.includes('access') && <AccessButton enter={enter} />}
      {(hasProvider || offered.includes('access')) && offered.includes('code') && <Divider label={authWords.or} />}
      {offered.includes('code') && <CodeForm enter={enter} />}
      {hasOther && !isTokenOpen ? (
        <Anchor component="button" type="button" size="sm" onClick={() => setTokenOpen(true)}>
          {authWords.useToken}
        </Anchor>
      ) : (
        <TokenForm enter={enter} />
      )}
    </Stack>
  )
}
