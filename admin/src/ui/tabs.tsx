export interface Tab {
  id: string;
  title: string;
  href: string;
}

/** Links between the pages of one thing. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, title, href }) => (
        <a key={id} href={href} aria-current={id === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
