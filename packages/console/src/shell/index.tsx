import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Group,
  Menu,
  ScrollArea,
  Select,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconApi, IconKey, IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { caller, storeLastEdition, useEditionId } from '../caller'
import { forgetCalls } from '../calls'
import { isOutgoingHeld } from '../environment'
import { lazyDialog } from '../parts/lazy-dialog'
import { Loaded } from '../parts/loaded'
import { linkTo } from '../parts/record-link'
import { onTokenChange, readToken } from '../session'
import { signOut } from '../sign-out'
import { isHeld } from '../unsaved'
import { changeLanguage, language, type Language, languages, words } from '../words'
import { GlobalSearch } from './global-search'
import { Navigation } from './navigation'

const CallPanel = lazyDialog(async () => (await import('./call-panel')).CallPanel)
const ExpiredSession = lazyDialog(async () => (await import('./expired-session')).ExpiredSession)

/** The frame of every page behind the sign-in. */
export function Shell() {
  const token = useSyncExternalStore(onTokenChange, readToken)
  const person = useQuery(caller)
  const { pathname } = useLocation()
  const { edition } = useParams({ strict: false })
  const [isMenuOpen, menu] = useDisclosure()
  const [areCallsOpen, setCallsOpen] = useState(false)
  useEffect(() => {
    if (edition) storeLastEdition(edition)
  }, [edition])
  useEffect(forgetCalls, [pathname])
  // The router is on its way to the page to sign in.
  if (token === null && !isHeld()) return null
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding="md"
    >
      <a className="skip" href="#main">
        {words.common.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger
            opened={isMenuOpen}
            onClick={menu.toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={words.common.menu}
            aria-expanded={isMenuOpen}
          />
          <EditionSwitcher />
          <GlobalSearch />
          <Group gap={6} wrap="nowrap" ml="auto">
            <Tooltip label={words.common.calls}>
              <ActionIcon
                variant="default"
                size="lg"
                aria-label={words.common.calls}
                onClick={() => setCallsOpen(true)}
              >
                <IconApi size={20} />
              </ActionIcon>
            </Tooltip>
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={words.common.navigation}>
        <ScrollArea type="auto" offsetScrollbars="y">
          <Navigation close={menu.close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        {isOutgoingHeld && <HeldNotice />}
        <Loaded query={person}>{() => <Outlet />}</Loaded>
      </AppShell.Main>
      <CallPanel isOpen={areCallsOpen} close={() => setCallsOpen(false)} />
      <ExpiredSession isOpen={token === null} />
    </AppShell>
  )
}

/** Says on every page that what people start here waits. */
const HeldNotice = () => (
  <Alert color="yellow" variant="outline" mb="md" title={words.common.held}>
    {words.common.heldHint}
  </Alert>
)

/** The editions by organisation. On another edition the same page opens, if it is a list. */
function EditionSwitcher() {
  const person = useQuery(caller).data?.data
  const edition = useEditionId()
  const { pathname } = useLocation()
  const { edition: inPath } = useParams({ strict: false })
  const navigate = useNavigate()
  if (!person) return null
  const names = new Map(person.organizations.map(({ id, name }) => [id, name]))
  const groups = Map.groupBy(person.editions, ({ organization_id }) => names.get(organization_id) ?? '')
  const open = (id: string) => {
    const [, page = ''] = inPath === undefined ? [] : pathname.split(`/editions/${inPath}/`)
    void navigate({ to: `/editions/${id}/${page.split('/')[0] ?? ''}` as never })
  }
  return (
    <Select
      aria-label={words.common.edition}
      w={{ base: 150, sm: 290 }}
      searchable
      allowDeselect={false}
      nothingFoundMessage={words.common.noMatch}
      value={edition ?? null}
      data={[...groups].map(([group, editions]) => ({
        group,
        items: editions.map(({ id, full_name }) => ({ value: id, label: full_name })),
      }))}
      onChange={(id) => id !== null && open(id)}
    />
  )
}

function PersonMenu() {
  const navigate = useNavigate()
  const person = useQuery(caller).data?.data
  const scheme = useComputedColorScheme('light')
  const { setColorScheme } = useMantineColorScheme()
  const isDark = scheme === 'dark'
  return (
    <Menu position="bottom-end" shadow="md" width={240}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={words.common.account}>
          <IconUser size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {person?.full_name ?? words.common.superuser}
          <Text size="xs" className="break">
            {person?.email}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item
          leftSection={isDark ? <IconSun size={16} /> : <IconMoon size={16} />}
          onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
        >
          {isDark ? words.common.lightScheme : words.common.darkScheme}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{words.common.language}</Menu.Label>
        {Object.entries(languages).map(([code, name]) => (
          <Menu.Item
            key={code}
            lang={code}
            fw={code === language ? 700 : undefined}
            aria-current={code === language}
            onClick={() => changeLanguage(code as Language)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconKey size={16} />}
          renderRoot={(props) => <Link {...linkTo('/access-tokens')} {...props} />}
        >
          {words.common.ownTokens}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={16} />}
          onClick={() => void signOut(() => navigate({ to: '/sign-in' }))}
        >
          {words.common.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
