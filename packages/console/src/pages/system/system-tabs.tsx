import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { loadWords } from '../../words'

const t = await loadWords('system')
const pages = [
  ['/system', t.tabs.status],
  ['/system/dead-messages', t.tabs.deadMessages],
  ['/system/organizations', t.tabs.organizations],
] as const

/** Leads from one part of the system to the others. */
export const SystemTabs = () => (
  <Group component="nav" gap={4} aria-label={t.tabsLabel}>
    {pages.map(([to, label]) => (
      <Button
        key={to}
        size="compact-md"
        fw={500}
        variant="subtle"
        color="gray"
        c="var(--mantine-color-text)"
        className="tab"
        renderRoot={(props) => (
          <Link
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
            {...props}
          />
        )}
      >
        {label}
      </Button>
    ))}
  </Group>
)
